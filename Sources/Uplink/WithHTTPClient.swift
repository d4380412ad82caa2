// SPDX-License-Identifier: Apache-2.0
public import UplinkCurl
public import UplinkEventLoop
public import UplinkHTTP

/// Runs `body` with an HTTP client of its own, of which nothing is left when this returns.
///
/// When `body` returns, transfers that still run are cancelled, or with `.draining` waited for; when it throws, or the
/// task is cancelled, they are cancelled in either case. Whoever waits for one that is cancelled so gets
/// `CancellationError`, in a task that is not cancelled too. Then every connection is closed.
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
///   - transport: How connections are made: certificates, name overrides, how many at once. On the shared loop the
///     client renews its connections when `LinuxNetworkMonitor.shared` tells that the network has changed; elsewhere,
///     and to hear another monitor, set `networkChanges`.
///   - ending: What becomes of transfers that still run when `body` returns. A body that is waited for needs a reader,
///     or to be dropped.
///   - body: Uses the client, which must not be kept beyond it: its requests throw `HTTPClientError` then.
/// - Throws: `HTTPClientError` when a setting makes no sense, or what `body` throws.
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
            // A second shutdown waits for the same end and hurries it.
            Task { await transport.shutdown(.cancelling) }
        }
    }
}
