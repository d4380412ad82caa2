// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
package import UplinkCore
public import UplinkEventLoop
public import UplinkHTTP

/// A transport over libcurl: HTTP/1.1 and TLS, on an event loop, with connections that are reused.
///
/// A request without an `Accept` field is sent with `Accept: */*`, one whose `Accept` is empty without.
///
/// Each transport has connections and TLS sessions of its own, shared with no other. End it with ``shutdown(_:)``; a
/// transport that is merely dropped ends when the last of its bodies is gone.
public final class CurlTransport: HTTPTransport, BeginningTransport {
    /// What happens to transfers when the transport ends.
    public enum ShutdownMode: Sendable {
        /// They may finish. New ones are refused, even if a call that is under way would start one, for a redirect or
        /// another attempt.
        case draining
        /// They end with `CancellationError`.
        case cancelling
    }

    private let engine: CurlEngine
    package let clock: ElapsedClock
    private let lastID = Locked<UInt64>(0)
    private let forks = ForkCount.current

    /// Creates a transport; nothing is opened before the first request is sent.
    ///
    /// - Throws: `HTTPClientError` when a setting is invalid, or libcurl is older than 7.87.
    public init(on loop: EventLoop, configuration: Configuration = .init()) throws(HTTPClientError) {
        let settings = try EngineSettings(configuration)
        guard LibCurl.isReady, LibCurl.isRecentEnough else {
            throw HTTPClientError(
                .engine, phase: .request, message: "libcurl 7.87 or newer is needed; install a newer libcurl4")
        }
        engine = CurlEngine(on: loop, settings: settings)
        clock = ElapsedClock(LoopClock(on: loop))
    }

    deinit {
        engine.eventLoop.executeUnlessEnded { [engine] in engine.assumeIsolated { $0.beginShutdown(.cancelling) } }
    }

    /// Sends a request over an existing connection or a new one, and returns with the final head.
    public func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try checkProcess()
        let body =
            if let ready = request.body.preparedAtOnce { ready } else {
                try await request.body.prepare(blocking: engine)
            }
        let exchange = exchange(for: request, carrying: body)
        await exchange.run()
        return try exchange.takeResponse()
    }

    /// Does the same without waiting, for a body that has been prepared.
    package func begin(_ request: HTTPTransportRequest, carrying body: PreparedBody) throws -> any TransportExchange {
        try checkProcess()
        return exchange(for: request, carrying: body)
    }

    private func checkProcess() throws(HTTPClientError) {
        guard ForkCount.current == forks else { throw CurlFailure.forked }
    }

    private func exchange(for request: HTTPTransportRequest, carrying body: PreparedBody) -> Exchange {
        let id = lastID.withLock { last in
            last += 1
            return last
        }
        return Exchange(id: id, request: request, body: body, engine: engine, owner: self)
    }

    /// Ends the transport: when this returns, no transfer, connection, descriptor or timer of it is left.
    ///
    /// Later requests throw `HTTPClientError.Code.closed`. Calling it again waits for the same end.
    /// - Parameter mode: `draining` waits for the transfers, whose bodies must be read meanwhile.
    public func shutdown(_ mode: ShutdownMode = .cancelling) async {
        await withCheckedContinuation { continuation in
            engine.post { $0.shutdown(mode, continuation) }
        }
    }

    /// How many transfers and sockets there are; for tests.
    package func census() async -> (transfers: Int, sockets: Int) { await engine.census }

    /// How many generations of connections there are; for tests.
    package var generations: Int { get async { await engine.generationCount } }

    /// How many bytes wait for readers; for tests.
    package var bufferedBytes: Int { engine.budget.bytes }

    /// Treats the newest generation of connections as broken, as libcurl may report it; for tests.
    package func simulateBreakdown(_ reason: String) async { await engine.simulateBreakdown(reason) }
}
