// SPDX-License-Identifier: Apache-2.0

/// Why the server does not do what it was asked to.
enum ServiceError: Error, Hashable, CustomStringConvertible {
    /// 400: the request cannot be granted, for this reason.
    case badRequest(String)
    /// 401: no credentials, or wrong ones.
    case unauthorized
    /// 404: there is no such item, or no such path.
    case notFound
    /// 405: the path only allows other methods, which these are.
    case methodNotAllowed(String)
    /// 412: the item is not the one that the client means.
    case preconditionFailed
    /// 507: an upload is larger than the limit.
    case full
    /// 500: the disk failed.
    case failed(String)
    /// 503: a simulated fault.
    case outOfOrder

    /// The status code.
    var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .notFound: 404
        case .methodNotAllowed: 405
        case .preconditionFailed: 412
        case .full: 507
        case .failed: 500
        case .outOfOrder: 503
        }
    }

    /// The message, for the command's error output.
    var description: String { message }

    /// What happened, for the answer's body.
    var message: String {
        switch self {
        case .badRequest(let reason): reason
        case .unauthorized: "wrong user or password"
        case .notFound: "there is no such item"
        case .methodNotAllowed: "this method has no meaning here"
        case .preconditionFailed: "the item is another one now"
        case .full: "there is no room for this"
        case .failed(let reason): reason
        case .outOfOrder: "out of order, as ordered"
        }
    }
}
