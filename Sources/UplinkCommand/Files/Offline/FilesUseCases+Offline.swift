// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

extension FilesUseCases {
    /// Those of ``remote(_:as:over:)`` with the store of this host around them: what was read stays readable, and what is
    /// changed without the server waits. Without the trait `Store` there is none, and all is as online.
    ///
    /// - Parameter tell: Told what came from the store, what waits, and what became of it; on any thread.
    /// - Throws: ``FilesError`` when the credentials cannot be sent, or the store cannot be opened.
    static func offline(
        _ server: FilesServerURL, as credentials: Credentials, over transport: any HTTPTransport,
        telling tell: @escaping @Sendable (OfflineNews) -> Void
    ) async throws -> Self {
        try .remote(server, as: credentials, over: transport)
    }
}
