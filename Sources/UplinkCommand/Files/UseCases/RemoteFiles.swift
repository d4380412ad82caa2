// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import Uplink
import UplinkHTTP

/// A server's URL, with which all calls begin.
struct FilesServerURL: Sendable, Hashable {
    /// The URL without a slash at its end.
    let text: String
    /// Scheme, host and port, for which the password is.
    let origin: String
    /// A name or an address, without brackets.
    let host: String

    /// - Throws: ``FilesError`` when the text is no `http` or `https` URL, or has a query.
    init(_ text: String) throws(FilesError) {
        let url: HTTPURL
        do throws(HTTPClientError) {
            url = try HTTPRequest(parsing: text).checkedURL()
        } catch {
            throw FilesError(.invalidServer, error.message, underlying: error)
        }
        guard url.query == nil else {
            throw FilesError(.invalidServer, "a server's URL has no query; leave out what follows the `?`")
        }
        origin = url.origin
        host = url.hostWithoutBrackets
        var base = url.text
        while base.hasSuffix("/") { base.removeLast() }
        self.text = base
    }
}

/// What all use cases share: the server, and the meaning of its answers.
struct RemoteFiles: Sendable {
    /// The most bytes of JSON to accept.
    private static let maximumJSON = 64 << 20
    /// How many attempts of a download in a row may bring nothing before the last one; their pauses take at most a
    /// second.
    private static let failures = 2
    /// How long a download may take.
    private static let day = Duration.seconds(86_400)
    private let client: HTTPClient
    private let server: FilesServerURL

    /// - Parameter client: Made with ``configuration(for:as:)``.
    init(_ server: FilesServerURL, client: HTTPClient) {
        self.server = server
        self.client = client
    }

    /// A client's settings: the credentials go only to this server, with every request; redirects are not followed,
    /// because the contract has none and they could carry an upload elsewhere.
    ///
    /// - Throws: ``FilesError`` when the credentials cannot be sent.
    static func configuration(
        for server: FilesServerURL, as credentials: Credentials
    ) throws(FilesError) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.maximumRedirects = 0
        do throws(HTTPClientError) {
            configuration.middlewares = [
                try .basic(for: [server.origin], user: credentials.user, password: credentials.password)
            ]
        } catch {
            throw FilesError(.invalidCredentials, error.message, underlying: error)
        }
        return configuration
    }

    /// Sends a request and checks the answer's status.
    ///
    /// - Parameters:
    ///   - path: What follows the server's URL; begins with a slash.
    ///   - activity: What is being tried, for the error.
    /// - Throws: ``FilesError``, or `CancellationError`.
    func send(
        _ method: HTTPRequest.Method, _ path: String, body: HTTPRequestBody = .none, headers: HTTPFields = [:],
        options: HTTPRequestOptions = .init(), accepting statuses: Set<Int>, while activity: String
    ) async throws -> HTTPClientResponse {
        try await explained(activity) {
            let request = try HTTPRequest(parsing: server.text + path, method: method, headerFields: headers)
            let response = try await client.execute(request, body: body, options: options)
            guard statuses.contains(response.status.code) else {
                throw FilesError(status: response.status.code, while: activity)
            }
            return response
        }
    }

    /// Sends a request and reads the JSON that answers it.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func json<Value>(
        _ method: HTTPRequest.Method, _ path: String, body: HTTPRequestBody = .none, headers: HTTPFields = [:],
        options: HTTPRequestOptions = .init(), accepting statuses: Set<Int>, while activity: String,
        _ decode: ([UInt8]) throws -> Value
    ) async throws -> Value {
        let response = try await send(
            method, path, body: body, headers: headers, options: options, accepting: statuses, while: activity)
        let bytes = try await explained(activity) { try await response.body.collect(upTo: Self.maximumJSON) }
        do { return try decode(bytes) } catch {
            throw FilesError(
                .unexpectedAnswer,
                "could not \(activity): the answer is not what was agreed; is \(server.text) a file server?")
        }
    }

    /// Downloads to a file, across broken connections; ends after a few attempts in a row that brought nothing, and
    /// after the first one if nothing ever came.
    ///
    /// - Parameter size: How many bytes there must be if the answer ends with its connection; nil refuses such an
    ///   answer. An answer with a length or an end of its own is believed: a listing may be older than the file.
    /// - Throws: ``FilesError``, or `CancellationError`.
    func download(
        _ path: String, of size: Int64?, to target: FilePath, replacingExisting: Bool, while activity: String,
        progress: TransferProgress?
    ) async throws {
        var options = DownloadOptions()
        options.replacesExisting = replacingExisting
        options.permissions = DownloadTarget.permissions(of: target)
        options.requirement = nil  // without a network it fails, and the caller may have the file stored
        options.backOff.maximumFailures = Self.failures
        options.backOff.maximumFirstFailures = 0
        do {
            do {
                try await follow(path, to: target, options, progress)
            } catch let error as DownloadError where error.code == .unframedBody && size != nil {
                options.expectedSize = size
                try await follow(path, to: target, options, progress)
            }
        } catch let error as DownloadError {
            throw FilesError(error, while: activity)
        }
    }

    private func follow(
        _ path: String, to target: FilePath, _ options: DownloadOptions, _ progress: TransferProgress?
    ) async throws {
        let download = client.startDownload(server.text + path, to: target, within: Self.day, options: options)
        try await withTaskCancellationHandler {
            // What an earlier download left is known only when it has been read.
            for await state in download.progress where state.phase != .preparing {
                progress?(state.receivedBytes, state.totalBytes)
            }
            _ = try await download.value
        } onCancel: {
            download.cancel()
        }
    }

    /// Turns the transport's errors into ones that say what was tried.
    func explained<Value>(_ activity: String, _ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as HTTPClientError {
            throw FilesError(error, while: activity)
        }
    }
}
