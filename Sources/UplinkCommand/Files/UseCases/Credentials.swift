// SPDX-License-Identifier: Apache-2.0

/// A user and a password. Never printed: its description leaves the password out.
struct Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    let user: String
    let password: String

    /// - Throws: ``FilesError`` when a field is empty, or the user's name contains a colon, which Basic authentication
    ///   cannot send (RFC 7617). A password may contain one.
    init(user: String, password: String) throws(FilesError) {
        guard !user.isEmpty, !password.isEmpty else {
            throw FilesError(.invalidCredentials, "user and password are both required; neither can be empty")
        }
        guard !user.contains(":") else {
            throw FilesError(.invalidCredentials, "a user's name cannot hold a colon; check it")
        }
        for scalar in (user + password).unicodeScalars where scalar.properties.generalCategory == .control {
            throw FilesError(.invalidCredentials, "user and password cannot hold control characters; check them")
        }
        self.user = user
        self.password = password
    }

    var description: String { user }
    var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
