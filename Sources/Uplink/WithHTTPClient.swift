// SPDX-License-Identifier: Apache-2.0
public import UplinkCurl
public import UplinkEventLoop
public import UplinkHTTP

/// Runs `body` with an HTTP client of its own, and leaves nothing of that client behind when it returns.
///
/// When `body` returns, transfers that are still running are cancelled, or with `.draining` waited for; when it throws
/// or the task is cancelled, they are always cancelled. Whoever waits for a transfer that is cancelled in this way gets
/// `CancellationError`, although their own task is not cancelled. Then every connection is closed.
///
/// ```swift
/// let page = try await withHTTPClient { client in
///     try await client.get("https://example.org/").body.collect(upTo: 1 << 20)
/// }
/// ```
///
/// - Parameters:
///   - loop: The event loop that the client works on.
///   - configuration: How the client behaves: timeouts, limits, redirects, middlewares.
///   - transport: How connections are made: certificates, name overrides, how many at a time. On the shared loop the
///     client renews its connections when `LinuxNetworkMonitor.shared` reports that the network has changed; on other
///     loops, or to follow another monitor, set `networkChanges`.
///   - ending: What becomes of transfers that are still running when `body` returns. With `.draining`, each response
///     body must be read or dropped.
///   - body: Uses the client, and must not keep it: later requests throw `HTTPClientError`.
/// - Throws: `HTTPClientError` when a setting of the transport is invalid, or whatever `body` throws. An invalid one in
///   `configuration` is an error of each request.
public nonisolated(nonsending) func withHTTPClient<Result>(
    on loop: EventLoop = .shared, configuration: HTTPClient.Configuration = .init(),
    transport: CurlTransport.Configuration = .init(), ending: CurlTransport.ShutdownMode = .cancelling,
    _ body: nonisolated(nonsending) (HTTPClient) async throws -> Result
) async throws -> Result {
    let transport = try CurlTransport(on: loop, configuration: transport.hearingOfChanges(on: loop))
    do {
        let result = try await body(HTTPClient(transport: transport, configuration: configuration))
        await shutdown(transport, ending)
        return result
    } catch {
        await transport.shutdown(.cancelling)
        throw error
    }
}

private nonisolated(nonsending) func shutdown(_ transport: CurlTransport, _ mode: CurlTransport.ShutdownMode) async {
    switch mode {
    case .cancelling: await transport.shutdown(.cancelling)
    case .draining:
        await withTaskCancellationHandler {
            await transport.shutdown(.draining)
        } onCancel: {
            // A second shutdown waits for the same end, and brings it forward.
            Task { await transport.shutdown(.cancelling) }
        }
    }
}
