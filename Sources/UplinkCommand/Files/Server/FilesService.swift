// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import Foundation
import SystemPackage
import UplinkCore

/// Answers requests as the contract says.
struct FilesService: Sendable {
    let files: ServedFiles
    let credentials: Credentials
    let firstName: String
    let lastName: String
    let faults: Locked<Faults>

    init(
        _ files: ServedFiles, for credentials: Credentials, firstName: String = "Demo", lastName: String = "User",
        faults: Faults = Faults()
    ) {
        self.files = files
        self.credentials = credentials
        self.firstName = firstName
        self.lastName = lastName
        self.faults = Locked(faults)
    }

    /// Answers one request. Always reads its body to the end, because the next request follows it.
    func respond(to request: HTTPRequest) async throws -> HTTPResponse {
        let (fault, delay) = faults.withLock { ($0.next(), $0.delay) }
        if fault == .drop {
            try await Task.sleep(for: delay)
            return HTTPResponse(webSocket: Drop())
        }
        var body = request.bodySequence.makeAsyncIterator()
        var response: HTTPResponse
        do {
            guard fault != .fail else { throw ServiceError.outOfOrder }
            try authenticate(request)
            response = try await answer(request, &body)
        } catch let error as ServiceError {
            response = Self.response(to: error)
        }
        if request.method == .HEAD { response = Self.head(of: response) }
        while try await body.next() != nil {}
        // The request has been carried out by now, even if the client goes away meanwhile without learning of it.
        if delay > .zero { try await Task.sleep(for: delay) }
        return response
    }

    /// FlyingFox closes a connection without an answer only when a change of protocol fails.
    private struct Drop: WSHandler {
        func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
            throw ServiceError.outOfOrder
        }
    }

    private func authenticate(_ request: HTTPRequest) throws(ServiceError) {
        let parts = (request.headers[.authorization] ?? "").split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = Data(base64Encoded: String(parts[1])),
            bytes == Data("\(credentials.user):\(credentials.password)".utf8)
        else { throw .unauthorized }
    }

    private func answer(
        _ request: HTTPRequest, _ body: inout HTTPBodySequence.Iterator
    ) async throws -> HTTPResponse {
        switch try FilesCall(request.method.rawValue, request.path) {
        case .user:
            return try Self.json(User(firstName: firstName, lastName: lastName, root: await files.root))
        case .list(let folder): return try Self.json(await files.items(in: folder))
        case .data(let id): return try await data(of: id, for: request)
        case .create(let folder): return try Self.json(await create(in: folder, request, &body), status: .created)
        case .delete(let id):
            let conditions = Preconditions(of: request)
            try await files.delete(id) { tag throws(ServiceError) in
                if try !conditions.isNew(tag) { throw .preconditionFailed }
            }
            return HTTPResponse(statusCode: .noContent)
        }
    }

    /// The whole content, or the rest of it for a client that has the beginning.
    private func data(of id: ItemID, for request: HTTPRequest) async throws -> HTTPResponse {
        let served = try await files.content(of: id)
        guard try Preconditions(of: request).isNew(served.tag) else { return Self.notModified(served) }
        let range = ServedRange(of: request, tag: served.tag, size: served.size)
        var (status, headers) = range.head(tag: served.tag, size: served.size)
        guard let start = range.start else { return HTTPResponse(statusCode: status, headers: headers) }
        headers[.contentType] = served.item.contentType ?? "application/octet-stream"
        let body =
            switch served.content {
            case .bytes(let bytes): HTTPBodySequence(data: bytes[start...], suggestedBufferSize: Self.pieceSize)
            case .file(let file):
                HTTPBodySequence(
                    from: ServedFile.Bytes(file: file, start: start), count: served.size - start,
                    suggestedBufferSize: Self.pieceSize)
            }
        return HTTPResponse(statusCode: status, headers: headers, body: body)
    }

    private func create(
        in folder: ItemID, _ request: HTTPRequest, _ body: inout HTTPBodySequence.Iterator
    ) async throws -> Item {
        let type = (request.headers[.contentType] ?? "").split { ";\t ".contains($0) }.first?.lowercased()
        switch type {
        case "application/json":
            var bytes: [UInt8] = []
            while let piece = try await body.next() {
                bytes.append(contentsOf: piece)
                guard bytes.count <= Self.maximumJSON else { throw ServiceError.badRequest("the JSON is too large") }
            }
            guard let name = try? FilesJSON.newFolderName(from: bytes) else {
                throw ServiceError.badRequest("`{\"name\":\"x\"}` is expected")
            }
            return try await files.makeFolder(named: name, in: folder)
        case "application/octet-stream":
            guard let name = ContentDisposition.fileName(in: request.headers[.contentDisposition] ?? "") else {
                throw ServiceError.badRequest("`Content-Disposition` names no file")
            }
            return try await upload(named: name, to: folder, request.bodySequence.count, &body)
        default: throw ServiceError.badRequest("the `Content-Type` is neither JSON nor a file's")
        }
    }

    /// - Parameter length: How many bytes were announced; nil when the body comes in chunks.
    private func upload(
        named name: String, to folder: ItemID, _ length: Int?, _ body: inout HTTPBodySequence.Iterator
    ) async throws -> Item {
        var upload = try await files.beginUpload(named: name, in: folder)
        do {
            var received = 0
            while let piece = try await body.next() {
                try upload.write(piece)
                received += piece.count
            }
            guard length.map({ $0 == received }) ?? true else { throw ServiceError.badRequest("the upload broke off") }
            let item = try await files.finish(upload, named: name, in: folder)
            upload.end()
            return item
        } catch {
            await files.giveUp(upload, in: folder)
            throw error
        }
    }

    private static let pieceSize = 65_536
    private static let maximumJSON = 65_536

    private static func json(_ value: some Encodable, status: HTTPStatusCode = .ok) throws -> HTTPResponse {
        HTTPResponse(
            statusCode: status, headers: [.contentType: "application/json"], body: Data(try FilesJSON.encode(value)))
    }

    private static func response(to error: ServiceError) -> HTTPResponse {
        var response = HTTPResponse(
            statusCode: HTTPStatusCode(error.status, phrase: "Error"), headers: [.contentType: "text/plain"],
            body: Data("\(error.message)\n".utf8))
        switch error {
        case .unauthorized:
            response.headers[HTTPHeader("WWW-Authenticate")] = "Basic realm=\"files\", charset=\"UTF-8\""
        case .methodNotAllowed(let allowed): response.headers[HTTPHeader("Allow")] = allowed
        case .badRequest, .notFound, .preconditionFailed, .full, .failed, .outOfOrder: break
        }
        return response
    }

    /// The answer to a client that has this content.
    private static func notModified(_ served: ServedFiles.Served) -> HTTPResponse {
        let headers = HTTPHeaders([.eTag: served.tag, .contentLength: String(served.size)])
        return HTTPResponse(statusCode: .notModified, headers: headers)
    }

    /// The answer to HEAD: the content's length without the content (RFC 9110, section 9.3.2).
    private static func head(of response: HTTPResponse) -> HTTPResponse {
        guard case .httpBody(let content) = response.payload, let length = content.count else { return response }
        var headers = response.headers
        headers[.contentLength] = String(length)
        return HTTPResponse(statusCode: response.statusCode, headers: headers)
    }
}
