// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// Everything that can be done as a user, put together in one place.
struct FilesUseCases: Sendable {
    var user: any ReadUser
    var list: any ListFolder
    var read: any ReadData
    var makeFolder: any MakeFolder
    var upload: any UploadFile
    var delete: any DeleteItem
    /// The use cases for changes made offline; without a store there are none.
    var pending = PendingUseCases.none

    /// The real use cases, over HTTP.
    ///
    /// - Throws: ``FilesError`` when the credentials cannot be sent.
    static func remote(
        _ server: FilesServerURL, as credentials: Credentials, over transport: any HTTPTransport
    ) throws(FilesError) -> Self {
        let configuration = try RemoteFiles.configuration(for: server, as: credentials)
        let remote = RemoteFiles(server, client: HTTPClient(transport: transport, configuration: configuration))
        return Self(
            user: RemoteReadUser(remote: remote), list: RemoteListFolder(remote: remote),
            read: RemoteReadData(remote: remote), makeFolder: RemoteMakeFolder(remote: remote),
            upload: RemoteUploadFile(remote: remote), delete: RemoteDeleteItem(remote: remote))
    }
}

extension RemoteLogIn {
    /// Logs in over HTTP.
    init(over transport: any HTTPTransport) {
        self.init { server, credentials in try .remote(server, as: credentials, over: transport) }
    }
}
