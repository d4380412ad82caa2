// SPDX-License-Identifier: Apache-2.0

/// Finds out whether a server accepts a user and a password.
protocol LogIn: Sendable {
    /// Returns the user, and what can be done as this user.
    ///
    /// - Throws: ``FilesError``: ``FilesError/Code/invalidCredentials`` without a request, or what ``ReadUser`` throws;
    ///   or `CancellationError`.
    func callAsFunction(_ server: FilesServerURL, user: String, password: String) async throws -> LoggedIn
}

/// A user who is logged in.
struct LoggedIn: Sendable {
    let user: User
    let credentials: Credentials
    let files: FilesUseCases
}

/// Asks a server for the user, because the contract has no other login.
struct RemoteLogIn: LogIn {
    let useCases: @Sendable (FilesServerURL, Credentials) async throws -> FilesUseCases

    func callAsFunction(_ server: FilesServerURL, user: String, password: String) async throws -> LoggedIn {
        let credentials = try Credentials(user: user, password: password)
        let files = try await useCases(server, credentials)
        return LoggedIn(user: try await files.user(), credentials: credentials, files: files)
    }
}
