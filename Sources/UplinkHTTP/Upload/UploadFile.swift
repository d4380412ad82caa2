// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// A regular file that is read from start to end. Its calls block, so they are made off the loop.
final class UploadFile: Sendable {
    private let descriptor: FileDescriptor
    private let path: FilePath
    /// Its size when it was opened.
    let size: Int64

    init(_ path: FilePath) throws(HTTPClientError) {
        self.path = path
        do {
            // Without O_NONBLOCK a named pipe would keep us waiting for its writer.
            descriptor = try FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
        } catch {
            throw Self.failure("opening `\(path)`", (error as? Errno)?.rawValue ?? 0, "the file must be readable")
        }
        var status = stat()
        let number = fstat(descriptor.rawValue, &status) == 0 ? 0 : errno
        guard number == 0, status.st_mode & S_IFMT == S_IFREG else {
            try? descriptor.close()
            throw Self.failure("reading `\(path)`", number, "it is no regular file; give its bytes as a sequence")
        }
        size = Int64(status.st_size)
    }

    deinit { try? descriptor.close() }

    /// Reads bytes from `offset`, up to `end`.
    func read(from offset: Int64, to end: Int64, into pool: SlabPool) throws -> HTTPBody.Chunk {
        let slab = pool.slab(expecting: end - offset)
        let limit = Int(min(end - offset, Int64(SlabPool.slabSize)))
        while slab.count < limit {
            let place = offset + Int64(slab.count)
            let count = try slab.fill(upTo: limit) { memory in
                try withFailure { try descriptor.read(fromAbsoluteOffset: place, into: memory) }
            }
            guard count > 0 else { throw changed("has become shorter than the \(end) bytes that it had") }
        }
        return slab.publish()
    }

    /// Checks that the file ends here.
    func expectEnd(at end: Int64) throws {
        let count = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { memory in
            try withFailure { try descriptor.read(fromAbsoluteOffset: end, into: memory) }
        }
        guard count > 0 else { return }
        guard end == 0 else { throw changed("has become longer than the \(end) bytes that it had") }
        throw BodyLength.mismatch(
            "the file `\(path)` was said to be empty, and is not; give the bytes of such a file (procfs) as a stream")
    }

    private func changed(_ how: String) -> HTTPClientError {
        BodyLength.mismatch(
            "the file `\(path)` \(how) when its request began; send it when nothing changes it, or a copy of it")
    }

    private func withFailure(_ body: () throws -> Int) throws -> Int {
        do {
            return try body()
        } catch {
            throw Self.failure("reading `\(path)`", (error as? Errno)?.rawValue ?? 0, "the disk may be broken")
        }
    }

    private static func failure(_ activity: String, _ number: CInt, _ remedy: String) -> HTTPClientError {
        .file(activity, number, remedy, phase: .request)
    }
}

extension BodyStream {
    /// The content of a regular file, with the length it had when the request began.
    static func file(_ path: FilePath) -> Self {
        Self(length: nil, isReplayable: true, isSpent: { false }) { work in
            let size = try await work.performBlocking { try UploadFile(path).size }
            return BodyProduction(length: size, runsForeignCode: false) { sink in
                let file = try await work.performBlocking { try UploadFile(path) }
                let pool = SlabPool(keeping: 4)
                var offset: Int64 = 0
                while offset < size {
                    let chunk = try await work.performBlocking { [offset] in
                        try file.read(from: offset, to: size, into: pool)
                    }
                    offset += Int64(chunk.count)
                    try await sink(chunk)
                }
                try await work.performBlocking { try file.expectEnd(at: size) }
            }
        }
    }
}
