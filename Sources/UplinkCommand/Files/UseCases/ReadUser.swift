// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// Reads the user who is logged in.
protocol ReadUser: Sendable {
    /// - Throws: ``FilesError``, or `CancellationError`.
    func callAsFunction() async throws -> User
}

struct RemoteReadUser: ReadUser {
    let remote: RemoteFiles

    func callAsFunction() async throws -> User {
        try await remote.json(.get, "/me", accepting: [200], while: "log in", FilesJSON.user)
    }
}
