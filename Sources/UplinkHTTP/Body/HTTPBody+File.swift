// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

extension HTTPBody {
    /// How far a body has come.
    public struct Progress: Sendable, Hashable {
        /// Bytes that have been written.
        public let written: Int64
        /// Bytes that there will be, where the server said so.
        public let expected: Int64?
    }

    /// Writes the body to a file, which stands under its name only when it is whole.
    ///
    /// The bytes go to a new file beside the target (mode 0600), which is synchronised and renamed at the end, and
    /// removed when anything fails. Nothing is written on an event loop's thread.
    ///
    /// - Parameters:
    ///   - path: The target. Its directory must exist. A relative path is looked up once, when this is called.
    ///   - replacingExisting: Whether the target may exist; it is replaced in one step then. What is no regular file is never
    ///     replaced: a directory, a symbolic link, a device, a pipe.
    ///   - permissions: What the file's mode becomes before it gets its name, whatever the umask and the mode of a file that it
    ///     replaces; until then it is its owner's alone.
    ///   - progress: Called when more has been written, with numbers that grow; the last time when all is.
    /// - Returns: The file's size.
    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/fileExists`` or ``HTTPClientError/Code/fileFailed``,
    ///   or as the iterator does.
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

    /// Sees to it that a body may be written to a path where a file may be replaced, before anything is fetched. Blocks.
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
            try? await writer.drain()  // the file is not to be closed under a write
            throw error
        }
        try await writer.drain()
        tell()
        return writer.written
    }
}
