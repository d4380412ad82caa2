// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import UplinkHTTP

/// What to upload.
enum UploadSource: Sendable {
    /// A file of this host, read while it is sent.
    case file(FilePath)
    /// Bytes in memory.
    case bytes([UInt8])
    /// Pieces, asked for while they are sent.
    case pieces(AsyncThrowingStream<[UInt8], any Error>)
}

/// Puts a file into a folder.
protocol UploadFile: Sendable {
    /// The name goes unchanged to the server, which may refuse it. Cancelling the task ends the upload; the server
    /// keeps nothing of it.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func callAsFunction(
        _ source: UploadSource, named name: String, in folder: ItemID, progress: TransferProgress?
    ) async throws -> Item
}

struct RemoteUploadFile: UploadFile {
    let remote: RemoteFiles

    func callAsFunction(
        _ source: UploadSource, named name: String, in folder: ItemID, progress: TransferProgress?
    ) async throws -> Item {
        let events = HTTPEvents()
        let telling = Task {
            for await event in events {
                if case .sent(let bytes, let total) = event { progress?(bytes, total) }
            }
        }
        defer { telling.cancel() }
        var headers = HTTPFields()
        headers[.contentDisposition] = ContentDisposition.attachment(named: name)
        let item = try await remote.json(
            .post, "/items/\(folder)", body: Self.body(source), headers: headers,
            options: HTTPRequestOptions(events: events), accepting: [200, 201], while: "upload the file", FilesJSON.item
        )
        await telling.value
        return item
    }

    private static func body(_ source: UploadSource) -> HTTPRequestBody {
        let type = "application/octet-stream"
        switch source {
        case .file(let path): return .file(path, contentType: type)
        case .bytes(let bytes): return .bytes(bytes, contentType: type)
        case .pieces(let pieces):
            var body = HTTPRequestBody.stream(pieces)
            body.contentType = type
            return body
        }
    }
}
