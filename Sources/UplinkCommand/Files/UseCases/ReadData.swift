// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import UplinkHTTP

/// How far a file has come: bytes, and how many there will be where that is known.
typealias TransferProgress = @Sendable (_ done: Int64, _ expected: Int64?) -> Void

/// Reads a file's content, as it comes.
protocol ReadData: Sendable {
    /// Hands the bytes on, in order; the next ones are read when `receive` returns.
    ///
    /// - Throws: ``FilesError``, `CancellationError`, or what `receive` throws.
    func callAsFunction(
        _ file: ItemID, progress: TransferProgress?, receive: @Sendable ([UInt8]) async throws -> Void) async throws

    /// Writes the content to a file, which stands under its name only when it is whole. When the
    /// connection breaks, it goes on from where it was; what a read that ended early has left is used by the next one to
    /// the same path.
    ///
    /// - Parameter size: The file's bytes as its folder tells them, if so; it may have changed since. It is held against
    ///   what comes where the answer does not tell its end itself, so that nobody knows otherwise whether it is whole.
    /// - Throws: ``FilesError``, or `CancellationError`.
    func callAsFunction(
        _ file: ItemID, of size: Int64?, to path: FilePath, replacingExisting: Bool, progress: TransferProgress?
    ) async throws
}

struct RemoteReadData: ReadData {
    private static let activity = "read the file"
    let remote: RemoteFiles

    func callAsFunction(
        _ file: ItemID, progress: TransferProgress?, receive: @Sendable ([UInt8]) async throws -> Void
    ) async throws {
        let body = try await body(of: file)
        var done: Int64 = 0
        var chunks = body.makeAsyncIterator()
        while let chunk = try await remote.explained(Self.activity, { try await chunks.next() }) {
            try await receive(chunk.bytes)
            done += Int64(chunk.count)
            progress?(done, body.contentLength)
        }
    }

    func callAsFunction(
        _ file: ItemID, of size: Int64?, to path: FilePath, replacingExisting: Bool, progress: TransferProgress?
    ) async throws {
        try await remote.download(
            Self.path(of: file), of: size, to: path, replacingExisting: replacingExisting, while: Self.activity,
            progress: progress)
    }

    private static func path(of file: ItemID) -> String { "/items/\(file)/data" }

    private func body(of file: ItemID) async throws -> HTTPBody {
        try await remote.send(.get, Self.path(of: file), accepting: [200], while: Self.activity).body
    }
}
