// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkCore
import UplinkEventLoop

/// The connections that no transfer has: what comes on them unasked, and how long they are kept.
extension CurlEngine {
    /// Ends an idle connection on which something has come.
    func nobodyWants(
        _ socket: WatchedSocket, _ descriptor: curl_socket_t, _ readiness: Readiness, in generation: Generation
    ) {
        // It may have been the end of the answer, which libcurl has read since, before the loop came to this socket.
        guard readiness.contains(.error) || ConnectionTable.hasNews(descriptor) else { return socket.watchIdle() }
        socket.stop()
        if isIdle(socket, descriptor, in: generation) { end(socket, descriptor) }
    }

    /// Ends the idle connections on which something has come that the loop has not learned of, because something has
    /// held it up: a request that goes out now would take it for its answer.
    func lookAtIdleConnections(now: Int64) {
        guard now - lastLook > Self.freshness else { return }
        lastLook = now
        for generation in generations {
            for descriptor in ConnectionTable.withNews(generation.sockets.idle) {
                guard let socket = generation.sockets[descriptor] else { continue }
                nobodyWants(socket, descriptor, .readable, in: generation)
            }
        }
    }

    /// How long after the loop has looked at its sockets a connection counts as looked at, in nanoseconds: not so short
    /// that each request of a busy loop would cost a system call.
    private static var freshness: Int64 { 2_000_000 }

    /// Ends the connections that have been idle for as long as they may. libcurl would do that when the next request
    /// comes, which may be never; until then the kernel would keep them alive.
    func idleTimePassed(in number: UInt64) {
        guard let generation = generation(number) else { return }
        generation.isIdleTimerSet = false
        let (now, limit) = (Monotonic.now, configuration.maximumIdleTime.nanosecondsRoundedUp)
        var next: Int64?
        for descriptor in generation.sockets.idle {
            guard let socket = generation.sockets[descriptor] else { continue }
            let left = socket.restsSince + limit - now
            if left <= 0, isIdle(socket, descriptor, in: generation) {
                end(socket, descriptor)
            } else {
                let delay = left > 0 ? left : limit  // a paused transfer's may be idle later
                next = min(next ?? delay, delay)
            }
        }
        if let next { generation.setIdleTimer(to: next) }
    }

    /// Whether a connection that libcurl does not want watched has no transfer.
    private func isIdle(_ socket: WatchedSocket, _ descriptor: curl_socket_t, in generation: Generation) -> Bool {
        guard let last = socket.lastTransfer, transfers[last] == nil else { return false }
        return !isOfPaused(descriptor, in: generation)
    }

    private func end(_ socket: WatchedSocket, _ descriptor: curl_socket_t) {
        socket.end()
        ConnectionTable.discard(descriptor)
    }

    /// Whether a paused transfer has the connection; libcurl may never have asked for it to be watched.
    private func isOfPaused(_ descriptor: curl_socket_t, in generation: Generation) -> Bool {
        let paused = transfers.values.lazy.filter { $0.generation === generation && $0.isPaused }
        guard !paused.isEmpty else { return false }
        let port = SocketIdentity(of: descriptor).localPort
        return paused.contains { port == nil || $0.sockets.localPort == port }
    }
}
