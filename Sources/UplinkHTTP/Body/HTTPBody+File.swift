// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

extension HTTPBody {
    /// The progress of writing a body.
    public struct Progress: Sendable, Hashable {
        /// Bytes written so far.
        public let written: Int64
        /// Bytes expected in total, if the server said so.
        public let expected: Int64?
    }

    /// Writes the body to a file, which appears under its name only when it is complete.
    ///
    /// The bytes go to a new file in the same directory (mode 0600), which is synchronised and renamed at the end, and
    /// removed if anything fails before that. If only the directory cannot be synchronised afterwards, that is an
    /// error, too, which says that the file is there. Nothing is written on an event loop's thread.
    ///
    /// - Parameters:
    ///   - path: The target. Its directory must exist. A relative path is looked up once, when this is called.
    ///   - replacingExisting: Whether the target may exist; if it does, it is replaced atomically. Anything that is not
    ///     a regular file (a directory, a symbolic link, a device, a pipe) is never replaced, nor is another user's
    ///     file where only its owner may (`/tmp`).
    ///   - permissions: The file's final mode, set before it gets its name, regardless of the umask and of the mode of
    ///     a file that it replaces. Until then only its owner has access.
    ///   - progress: Called when more has been written, with increasing numbers; the last time when everything has been
    ///     written.
    /// - Returns: The file's size.
    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/fileExists`` or ``HTTPClientError/Code/fileFailed``,
    ///   or the same errors as the iterator.
    @discardableResult
    public func write(
        to path: FilePath, replacingExisting: Bool = false, permissions: FilePermissions = .ownerReadWrite,
        progress: (@Sendable (Progress) -> Void)? = nil
    ) async throws -> Int64 {
        var iterator = try unusedIterator()
        let source = handle.source
        let file = try await source.performBlocking { try BodyFile(for: path, replacingExisting: replacingExisting) }
        do {
            let size = try await stream(&iterator, into: file, progress: progress)
            try await source.performBlocking { try file.finish(permissions) }
            return size
        } catch {
            source.cancel()
            try? await source.performBlocking { file.abandon() }
            throw error
        }
    }

    /// Sees to it that a body may be written to a path where a file may be replaced, before anything is fetched.
    /// Blocks.
    ///
    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/fileFailed``.
    package static func checkTarget(_ path: FilePath) throws(HTTPClientError) {
        do throws(HTTPClientError) {
            try BodyTarget(path).check(replacing: true)
        } catch {
            var error = error
            error.requestDisposition = .notSent
            throw error
        }
    }

    private func stream(
        _ iterator: inout Iterator, into file: BodyFile, progress: (@Sendable (Progress) -> Void)?
    ) async throws -> Int64 {
        let source = handle.source
        let writer = WriteBehind(starting: { source.performBlocking($0, completion: $1) }) { try file.append($0) }
        var told: Int64 = 0
        func tell() {
            let written = writer.written
            guard written > told else { return }
            told = written
            progress?(Progress(written: written, expected: contentLength))
        }
        do {
            while let chunk = try await iterator.next() {
                try await writer.write(chunk)
                tell()
            }
        } catch {
            try? await writer.drain()  // the file must not be closed during a write
            throw error
        }
        try await writer.drain()
        tell()
        return writer.written
    }
}
