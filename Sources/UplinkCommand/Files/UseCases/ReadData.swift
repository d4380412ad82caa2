// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import UplinkHTTP

/// How much of a file has been transferred: bytes, and how many there will be if that is known.
typealias TransferProgress = @Sendable (_ done: Int64, _ expected: Int64?) -> Void

/// Reads a file's content, as it comes.
protocol ReadData: Sendable {
    /// Hands the bytes on, in order; the next ones are read when `receive` returns.
    ///
    /// - Parameter size: The file's size according to its folder, if known; it may have changed since. It is compared
    ///   with what comes if the answer does not announce its own end, because there is then no other way to tell
    ///   whether it is whole.
    /// - Throws: ``FilesError``, `CancellationError`, or what `receive` throws.
    func callAsFunction(
        _ file: ItemID, of size: Int64?, progress: TransferProgress?,
        receive: @Sendable ([UInt8]) async throws -> Void
    ) async throws

    /// Writes the content to a file, which gets its name only when it is whole. When the connection breaks, it goes on
    /// from where it was; the next call for the same path uses what one that ended early left.
    ///
    /// - Parameter size: As above.
    /// - Throws: ``FilesError``, or `CancellationError`.
    func callAsFunction(
        _ file: ItemID, of size: Int64?, to path: FilePath, replacingExisting: Bool, progress: TransferProgress?
    ) async throws
}

struct RemoteReadData: ReadData {
    private static let activity = "read the file"
    let remote: RemoteFiles

    func callAsFunction(
        _ file: ItemID, of size: Int64?, progress: TransferProgress?,
        receive: @Sendable ([UInt8]) async throws -> Void
    ) async throws {
        let body = try await body(of: file)
        var done: Int64 = 0
        var chunks = body.makeAsyncIterator()
        while let chunk = try await remote.explained(Self.activity, { try await chunks.next() }) {
            try await receive(chunk.bytes)
            done += Int64(chunk.count)
            progress?(done, body.contentLength)
        }
        guard body.framing != .untilClose || done == size else {
            throw FilesError(
                .unreachable,
                "the server closed the connection after \(done) bytes without saying how many there are; try again")
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
