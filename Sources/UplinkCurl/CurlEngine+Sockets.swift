// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import UplinkEventLoop
import UplinkHTTP

/// A socket that libcurl wants watched.
final class WatchedSocket {
    private let watcher: DescriptorWatcher
    private var interest: Readiness = []
    /// libuv has stopped the watcher because of an error on the socket.
    private var isStopped = false

    init(_ watcher: DescriptorWatcher) { self.watcher = watcher }

    /// Watches for this alone. Registers anew even when nothing changed: the number may be another socket's by now.
    func watch(for interest: Readiness) {
        self.interest = interest
        isStopped = false
        watcher.start(interest)
    }

    func didStop() { isStopped = true }

    /// Goes on after an error, if libcurl has not said otherwise meanwhile.
    func goOn() { if isStopped { watch(for: interest) } }

    func close() { watcher.close() }
}

/// The engine's timers.
final class Timers {
    /// libcurl's own.
    let curl: LoopTimer
    /// For the deadlines of all transfers.
    let deadlines: LoopTimer
    /// For ``CurlEngine/nudge()``.
    let nudge: LoopTimer
    var isNudging = false
    /// What `deadlines` is set to.
    var deadline: Int64?

    init(for engine: isolated CurlEngine) throws(EventLoopError) {
        curl = try LoopTimer(for: engine) { $0.act(on: uplink_socket_timeout, 0) }
        deadlines = try LoopTimer(for: engine, ended: { $0.loopEnded() }) { $0.deadlinesPassed() }
        nudge = try LoopTimer(for: engine) { $0.nudge() }
    }
}

extension CurlEngine {
    // MARK: libcurl's callbacks: nothing in here calls libcurl

    func socketChanged(_ descriptor: curl_socket_t, to change: CInt) {
        guard change != CURL_POLL_REMOVE else {
            // libcurl may have closed the descriptor by now; closing the watcher does not mind.
            sockets.removeValue(forKey: descriptor)?.close()
            return
        }
        guard !isCleaningUp else { return }
        var interest: Readiness = []
        if change & CURL_POLL_IN != 0 { interest.insert(.readable) }
        if change & CURL_POLL_OUT != 0 { interest.insert(.writable) }
        do throws(EventLoopError) {
            let socket: WatchedSocket
            if let known = sockets[descriptor] { socket = known } else { socket = try watch(descriptor) }
            sockets[descriptor] = socket
            socket.watch(for: interest)
        } catch {
            breakdown = error.message
            scheduleTurn()
        }
    }

    private func watch(_ descriptor: curl_socket_t) throws(EventLoopError) -> WatchedSocket {
        WatchedSocket(
            try DescriptorWatcher(of: descriptor, for: self) { engine, readiness in
                engine.socketIsReady(descriptor, readiness)
            })
    }

    func timerChanged(to milliseconds: Int) {
        guard !isCleaningUp else { return }
        if milliseconds < 0 { timers?.curl.stop() } else { timers?.curl.start(after: .milliseconds(milliseconds)) }
    }

    /// A socket is about to be connected.
    func socketOpened(_ descriptor: curl_socket_t) {
        hasOpenedSocket = true
        let flags = fcntl(descriptor, F_GETFD)
        _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC)
        var milliseconds: CInt = 30_000  // a peer that vanished is noticed, though keep-alive would wait longer
        setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<CInt>.size))
    }

    // MARK: Into libcurl

    private func socketIsReady(_ descriptor: curl_socket_t, _ readiness: Readiness) {
        guard let socket = sockets[descriptor] else { return }
        var events: CInt = 0
        if readiness.contains(.readable) { events |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
        // No CURL_CSELECT_ERR: libcurl then gives up at once. With nothing it looks for itself, reads what came before
        // the error, and replaces a connection that died idle.
        if readiness.contains(.error) { socket.didStop() }
        act(on: descriptor, events)
        if let current = sockets[descriptor], current === socket { socket.goOn() }
    }

    func act(on descriptor: curl_socket_t, _ events: CInt) {
        guard let multi else { return }
        var running: CInt = 0
        check(curl_multi_socket_action(multi.curl, descriptor, events, &running))
        scheduleTurn()
    }

    /// Anything but success leaves the multi in no state to go on with.
    func check(_ code: CURLMcode) {
        guard code != CURLM_OK else { return }
        breakdown = curl_multi_strerror(code).map { String(cString: $0) } ?? "unknown error"
        scheduleTurn()
    }

    // MARK: The nudge

    /// While anything connects, libcurl before 8.4 has to be asked to look at its connection attempts: the timers that
    /// start a host's next address do not reach it in event mode.
    func startNudging() {
        guard LibCurl.needsConnectNudge, let timers, !timers.isNudging else { return }
        timers.isNudging = true
        timers.nudge.start(after: .milliseconds(50))
    }

    func nudge() {
        guard let timers, let multi else { return }
        timers.isNudging = false
        guard transfers.values.contains(where: { $0.machine.phase == .connecting }) else { return }
        startNudging()
        var running: CInt = 0
        check(uplink_multi_socket_all(multi.curl, &running))
        scheduleTurn()
    }
}
