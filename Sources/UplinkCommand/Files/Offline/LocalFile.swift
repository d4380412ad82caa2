// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import SystemPackage
import UplinkCore
import UplinkEventLoop

/// A file of this host that is read piece by piece, on threads that may block.
final class LocalFile: Sendable {
    private static let pieceSize = 1 << 20
    private let path: FilePath
    private let descriptor: CInt
    private let before: stat

    /// - Throws: ``FilesError`` when it cannot be read.
    init(_ path: FilePath) throws(FilesError) {
        let descriptor = open(path.string, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            let number = errno
            if descriptor >= 0 { close(descriptor) }
            throw Self.failure(path, number)
        }
        (self.path, self.descriptor, before) = (path, descriptor, status)
    }

    deinit { close(descriptor) }

    var size: Int64 { Int64(before.st_size) }

    /// Reads the next bytes, a mebibyte at most; none at the end.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func next(upTo limit: Int = LocalFile.pieceSize) async throws -> [UInt8] {
        try Task.checkCancellation()
        return try await EventLoop.shared.offLoop { [self] in
            var buffer = [UInt8](repeating: 0, count: min(limit, Self.pieceSize))
            var filled = 0
            while filled < buffer.count {
                let count = buffer.withUnsafeMutableBytes { buffer in
                    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                    return Glibc.read(descriptor, rest.baseAddress, rest.count)
                }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw Self.failure(path, errno) }
                if count == 0 { break }
                filled += count
            }
            return Array(buffer[..<filled])
        }
    }

    /// Whether the file has not been changed since it was opened.
    var isUnchanged: Bool {
        var now = stat()
        return fstat(descriptor, &now) == 0 && now.st_size == before.st_size
            && now.st_mtim.tv_sec == before.st_mtim.tv_sec && now.st_mtim.tv_nsec == before.st_mtim.tv_nsec
    }

    private static func failure(_ path: FilePath, _ number: CInt) -> FilesError {
        FilesError(.localFile, "`\(path)` cannot be read: \(String(cString: strerror(number)))")
    }
}
#endif
