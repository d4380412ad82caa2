// SPDX-License-Identifier: Apache-2.0
public import UplinkCurl
public import UplinkEventLoop
public import UplinkHTTP

extension HTTPClient {
    /// The process's own client, on the shared event loop, for programs with nothing to configure.
    ///
    /// It is created on first use and never shut down, so it needs no scope. It keeps some idle connections for later
    /// requests as long as the process runs. Its defaults are those of `HTTPClient.Configuration` and of
    /// `CurlTransport.Configuration`.
    public static let shared = HTTPClient(transport: transport(on: .shared, .init()))

    /// Creates a client with connections of its own and no scope.
    ///
    /// Nothing has to be done at its end: when the last copy and the last body are gone, so are its connections. To be
    /// sure of the moment, use ``withHTTPClient(on:configuration:transport:ending:_:)``, which also says how a client
    /// learns of changes of the network.
    ///
    /// - Throws: `HTTPClientError` when a setting of the transport is invalid, or libcurl is too old.
    public init(
        on loop: EventLoop, configuration: Configuration = .init(), transport: CurlTransport.Configuration = .init()
    ) throws(HTTPClientError) {
        self.init(
            transport: try CurlTransport(on: loop, configuration: transport.hearingOfChanges(on: loop)),
            configuration: configuration)
    }

    private static func transport(
        on loop: EventLoop, _ configuration: CurlTransport.Configuration
    ) -> any HTTPTransport {
        do {
            return try CurlTransport(on: loop, configuration: configuration.hearingOfChanges(on: loop))
        } catch {
            return Unavailable(error: error)
        }
    }
}

/// A transport that fails each request with the reason why there is none.
private struct Unavailable: HTTPTransport {
    let error: HTTPClientError

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse { throw error }
}
