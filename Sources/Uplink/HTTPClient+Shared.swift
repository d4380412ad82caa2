// SPDX-License-Identifier: Apache-2.0
public import UplinkCurl
public import UplinkEventLoop
public import UplinkHTTP

extension HTTPClient {
    /// The process's own client, on the shared event loop: for programs with nothing to configure.
    ///
    /// It is made with its first use and never shut down, so it needs no scope. Some idle connections are kept for later
    /// requests as long as the process runs. Defaults are those of `HTTPClient.Configuration` and of
    /// `CurlTransport.Configuration`.
    public static let shared = HTTPClient(transport: transport(on: .shared, .init()))

    /// Makes a client with connections of its own and no scope.
    ///
    /// Nothing has to be done at its end: when the last copy and the last body are gone, so are its connections. To be
    /// sure of the moment use ``withHTTPClient(on:configuration:transport:ending:_:)``. Of changes of the network it hears
    /// as described there.
    ///
    /// - Throws: `HTTPClientError` when a setting of the transport makes no sense, or libcurl is too old.
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

/// Says with each request why there is no transport.
private struct Unavailable: HTTPTransport {
    let error: HTTPClientError

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse { throw error }
}
