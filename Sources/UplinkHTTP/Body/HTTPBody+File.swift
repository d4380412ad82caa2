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
    ///   - path: The target. Its directory must exist.
    ///   - replacingExisting: Whether the target may exist; it is replaced in one step then.
    ///   - progress: Called after every piece that has been written, with numbers that grow.
    /// - Returns: The file's size.
    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/fileExists`` or ``HTTPClientError/Code/fileFailed``,
    ///   or as the iterator does.
    @discardableResult
    public func write(
        to path: FilePath, replacingExisting: Bool = false, progress: (@Sendable (Progress) -> Void)? = nil
    ) async throws -> Int64 {
        var iterator = try unusedIterator()
        let source = handle.source
        let file = try await source.performBlocking { try BodyFile(for: path, replacingExisting: replacingExisting) }
        do {
            let size = try await stream(&iterator, into: file, progress: progress)
            try await source.performBlocking { try file.finish() }
            return size
        } catch {
            source.cancel()
            try? await source.performBlocking { file.abandon() }
            throw error
        }
    }

    /// How many pieces may be on their way to the disk at once.
    private static var outstandingWrites: Int { 4 }

    private func stream(
        _ iterator: inout Iterator, into file: BodyFile, progress: (@Sendable (Progress) -> Void)?
    ) async throws -> Int64 {
        let source = handle.source
        return try await withThrowingTaskGroup(of: Int.self) { group in
            var (offset, written, outstanding) = (Int64(0), Int64(0), 0)
            func take(_ count: Int?) {
                outstanding -= 1
                written += Int64(count ?? 0)
                progress?(Progress(written: written, expected: contentLength))
            }
            while let chunk = try await iterator.next() {
                if outstanding == Self.outstandingWrites { take(try await group.next()) }
                outstanding += 1
                group.addTask { [offset] in
                    try await source.performBlocking { try file.write(chunk, at: offset) }
                    return chunk.count
                }
                offset += Int64(chunk.count)
            }
            while let count = try await group.next() { take(count) }
            return offset
        }
    }
}
