// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkEventLoop
import UplinkHTTP

/// The calls into libcurl that do not belong to one transfer: for readiness, for time, and the nudge.
extension CurlEngine {
    func generation(_ number: UInt64) -> Generation? { generations.first { $0.number == number } }

    func socketIsReady(_ descriptor: curl_socket_t, _ readiness: Readiness, in number: UInt64) {
        guard let generation = generation(number), let socket = generation.sockets[descriptor] else { return }
        lastLook = max(lastLook, socket.timeOfEvents)
        guard socket.isWanted else { return nobodyWants(socket, descriptor, readiness, in: generation) }
        if let user = socket.user, transfers[user]?.isPaused == true {
            socket.holdReading()
            guard socket.isForWriting else { return }
        }
        var events: CInt = 0
        if readiness.contains(.readable), !socket.isReadingHeld { events |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
        // No CURL_CSELECT_ERR, because libcurl would then give up immediately. Without it, libcurl looks for itself,
        // reads what came before the error, and replaces a connection that died idle.
        if readiness.contains(.error) { socket.didStop() }
        act(in: generation, on: descriptor, events)
        if generation.sockets[descriptor] === socket { socket.goOn() }
    }

    func timePassed(in number: UInt64) {
        if let generation = generation(number) { act(in: generation, on: uplink_socket_timeout, 0) }
    }

    private func act(in generation: Generation, on descriptor: curl_socket_t, _ events: CInt) {
        guard let multi = generation.multi?.curl else { return }
        socketAction(multi, descriptor, events, in: generation)
        scheduleTurn()
    }

    private func socketAction(
        _ multi: UnsafeMutableRawPointer, _ descriptor: curl_socket_t, _ events: CInt, in generation: Generation
    ) {
        var running: CInt = 0
        check(curl_multi_socket_action(multi, descriptor, events, &running), of: generation)
        generation.running = Int(running)
    }

    /// Calls libcurl as long as it wants to be called immediately: with a timer, each call would wait for another turn.
    ///
    /// Not for ever: it wants that as long as a socket has something to read, so a server that never pauses would hold
    /// up everything on the loop.
    func actOnWhatIsDue(in generation: Generation) {
        guard generation.isDue else { return }
        let end = Monotonic.now + 1_000_000
        while let multi = generation.multi?.curl, generation.takeDue() {
            socketAction(multi, uplink_socket_timeout, 0, in: generation)
            guard Monotonic.now < end else { return generation.putOffWhatIsDue() }
        }
    }

    /// Checks a result of libcurl: after anything but success the multi cannot be used any further.
    func check(_ code: CURLMcode, of generation: Generation) {
        if code != CURLM_OK { breakDown(generation, code) }
    }

    private func breakDown(_ generation: Generation, _ code: CURLMcode) {
        generation.breakdown = CurlFailure.engine(
            curl_multi_strerror(code).map { String(cString: $0) } ?? "unknown error")
        scheduleTurn()
    }

    /// Starts the nudge. While anything is connecting, libcurl before 8.4 has to be asked to look at its connection
    /// attempts, because the timers that start a host's next address do not reach it in event mode.
    func startNudging() {
        guard LibCurl.needsConnectNudge, let timers, !timers.isNudging else { return }
        timers.isNudging = true
        timers.nudge.start(after: .milliseconds(50))
    }

    func nudge() {
        guard let timers else { return }
        timers.isNudging = false
        guard transfers.values.contains(where: \.isConnecting) else { return }
        startNudging()
        for generation in generations {
            guard let multi = generation.multi, generation.transfers > 0 else { continue }
            var running: CInt = 0
            check(uplink_multi_socket_all(multi.curl, &running), of: generation)
            generation.running = Int(running)
        }
        scheduleTurn()
    }
}
