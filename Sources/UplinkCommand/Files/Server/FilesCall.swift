// SPDX-License-Identifier: Apache-2.0

/// What a request asks for, by its method and path.
enum FilesCall: Sendable, Hashable {
    /// `GET /me`
    case user
    /// `GET /items/{folder}`
    case list(ItemID)
    /// `GET /items/{file}/data`
    case data(ItemID)
    /// `POST /items/{folder}`
    case create(in: ItemID)
    /// `DELETE /items/{id}`
    case delete(ItemID)

    /// HEAD is GET, without the content.
    ///
    /// - Throws: ``ServiceError`` when it is none of these.
    init(_ method: String, _ path: String) throws(ServiceError) {
        let method = method == "HEAD" ? "GET" : method
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        if parts == ["me"] {
            guard method == "GET" else { throw .methodNotAllowed("GET, HEAD") }
            self = .user
            return
        }
        guard parts.first == "items", (2...3).contains(parts.count), let id = ItemID(parts[1]) else { throw .notFound }
        if parts.count == 3 {
            guard parts[2] == "data" else { throw .notFound }
            guard method == "GET" else { throw .methodNotAllowed("GET, HEAD") }
            self = .data(id)
            return
        }
        switch method {
        case "GET": self = .list(id)
        case "POST": self = .create(in: id)
        case "DELETE": self = .delete(id)
        default: throw .methodNotAllowed("GET, HEAD, POST, DELETE")
        }
    }
}
