// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// Sends a user and a password with every request to certain origins (Basic, RFC 7617).
///
/// They are sent with the first request already, in UTF-8, and everybody on the way can read them unless the origin is
/// `https`. A request that was redirected from another origin goes without, and one that has an `Authorization` field
/// of its own keeps it.
public struct HTTPBasicAuthentication: HTTPMiddleware {
    private let scope: CredentialScope
    private let value: String

    /// Makes the middleware.
    ///
    /// - Parameters:
    ///   - origins: The origins that the credential is for: scheme, host and port, such as `https://example.org`.
    ///   - user: The user's name, without colons and control characters.
    ///   - password: The password, without control characters.
    /// - Throws: ``HTTPClientError`` when the user or the password cannot be sent, or a text is not an origin.
    public init(for origins: [String], user: String, password: String) throws(HTTPClientError) {
        scope = try CredentialScope(origins)
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw Self.invalid("user contains a colon") }
        for (name, text) in [("user", user), ("password", password)]
        where text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) {
            throw Self.invalid("\(name) contains a control character")
        }
        value = "Basic \(Base64.encode("\(user):\(password)".utf8))"
    }

    /// Passes the request on, with the credential if it is for the request's origin.
    public func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        guard scope.covers(request) else { return try await next(request) }
        var request = request
        request.head.headerFields[.authorization] = value
        return try await next(request)
    }

    private static func invalid(_ what: String) -> HTTPClientError {
        HTTPClientError(
            .invalidConfiguration, phase: .request,
            message: "the \(what), which Basic authentication cannot send (RFC 7617); choose another one")
    }
}

extension HTTPBasicAuthentication: CustomStringConvertible, CustomReflectable {
    /// Only the origins, so that a log of the configuration does not show the credential.
    public var description: String { "Basic authentication for \(scope.text)" }

    /// The same for `dump` and debuggers.
    public var customMirror: Mirror { Mirror(self, children: ["origins": scope.text]) }
}

extension HTTPMiddleware where Self == HTTPBasicAuthentication {
    /// Sends a user and a password; see ``HTTPBasicAuthentication``.
    ///
    /// - Throws: ``HTTPClientError`` when the user or the password cannot be sent, or a text is not an origin.
    public static func basic(
        for origins: [String], user: String, password: String
    ) throws(HTTPClientError) -> Self {
        try HTTPBasicAuthentication(for: origins, user: user, password: password)
    }
}
