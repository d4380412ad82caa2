// SPDX-License-Identifier: Apache-2.0
public import UplinkCurl
public import UplinkEventLoop
public import UplinkHTTP

/// Runs `body` with an HTTP client of its own, of which nothing is left when this returns.
///
/// Transfers that still run when `body` ends are cancelled, and every connection is closed.
///
/// ```swift
/// let page = try await withHTTPClient { client in
///     try await client.get("https://example.org/").body.collect(upTo: 1 << 20)
/// }
/// ```
///
/// - Parameters:
///   - loop: The event loop that the client works on.
///   - configuration: How the client behaves: timeouts, limits, redirects.
///   - transport: How connections are made: certificates, name overrides, how many at once.
///   - body: Uses the client, which must not be kept beyond it: its requests throw `HTTPClientError` then.
/// - Throws: `HTTPClientError` when a setting makes no sense, or what `body` throws.
public nonisolated(nonsending) func withHTTPClient<Result>(
    on loop: EventLoop = .shared, configuration: HTTPClient.Configuration = .init(),
    transport: CurlTransport.Configuration = .init(),
    _ body: nonisolated(nonsending) (HTTPClient) async throws -> Result
) async throws -> Result {
    let transport = try CurlTransport(on: loop, configuration: transport)
    do {
        let result = try await body(HTTPClient(transport: transport, configuration: configuration))
        await transport.shutdown(.cancelling)
        return result
    } catch {
        await transport.shutdown(.cancelling)
        throw error
    }
}
