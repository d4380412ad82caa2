// SPDX-License-Identifier: Apache-2.0
import FlyingSocks
import Glibc
import SystemPackage
import UplinkEventLoop

/// A served file that is open, so that its size, its date and its bytes belong together, whatever becomes of its name.
final class ServedFile: Sendable {
    private let descriptor: CInt
    let size: Int
    let date: Timestamp

    /// - Throws: ``ServiceError`` when the name is not that of a file, or it cannot be read.
    init(_ name: String, in directory: CInt) throws(ServiceError) {
        // A pipe that has come in the file's place would block whoever opens it.
        let descriptor = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notFound
        }
        self.descriptor = descriptor
        size = Int(status.st_size)
        date = Timestamp(modificationOf: status)
    }

    deinit { close(descriptor) }

    private static func failure(_ number: CInt) -> ServiceError {
        guard ![ENOENT, ENOTDIR, ELOOP, ENXIO].contains(number) else { return .notFound }
        return .failed("the file cannot be read: \(String(cString: strerror(number)))")
    }

    /// Reads some bytes, none at the end.
    fileprivate func read(upTo count: Int, at offset: Int) async throws -> [UInt8] {
        let count = min(count, size - offset)
        guard count > 0 else { return [] }
        return try await EventLoop.shared.offLoop { [self] in
            let bytes = try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                filled = try FileDescriptor(rawValue: descriptor).read(
                    fromAbsoluteOffset: Int64(offset), into: UnsafeMutableRawBufferPointer(buffer))
            }
            // More has been announced to the client, which learns of this only when its connection ends.
            guard !bytes.isEmpty else { throw ServiceError.failed("the file has become shorter") }
            return bytes
        }
    }

    /// The bytes from an offset to the end that the file had when it was opened.
    struct Bytes: AsyncBufferedSequence {
        typealias Element = UInt8
        let file: ServedFile
        let start: Int

        func makeAsyncIterator() -> Iterator { Iterator(file: file, offset: start) }

        struct Iterator: AsyncBufferedIteratorProtocol {
            let file: ServedFile
            var offset: Int

            mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

            mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
                let bytes = try await file.read(upTo: count, at: offset)
                offset += bytes.count
                return bytes.isEmpty ? nil : bytes
            }
        }
    }
}
