// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// One `CURLM` with everything that belongs to it: connections, TLS sessions, looked-up names, watched sockets, a
/// timer.
///
/// When the way to the internet changes, new transfers get a new generation, which has nothing of the old network; the
/// old one lives until its transfers have ended. Only for the loop's thread.
final class Generation {
    let number: UInt64
    let start = Monotonic.now
    /// The engine, which owns the generation and outlives it.
    unowned let engine: CurlEngine
    let connections: ConnectionTable
    @exclusivity(unchecked) private(set) var multi: CurlMulti?
    private let timer: LoopTimer
    private var isTimerSet = false
    /// The timer for ``CurlEngine/idleTimePassed(in:)``.
    private let idleTimer: LoopTimer
    var isIdleTimerSet = false
    /// Whether libcurl wants to be called immediately, which is when the turn ends.
    private(set) var isDue = false
    @exclusivity(unchecked) var sockets = WatchedSockets()
    /// The listener of all watchers.
    private let listener: DescriptorWatcher.Listener
    /// Handles for later transfers: 5 KB each, at most 4 KB of fields to send, and the fields of the last answer, which
    /// libcurl keeps until the next.
    @exclusivity(unchecked) private var idleHandles: [EasyHandle] = []
    private static let keptHandles = 64
    /// How many transfers libcurl has.
    var transfers = 0
    /// How many of them it has not finished, as far as it has reported.
    var running = 0 {
        didSet { limitConnections() }
    }
    private let maximumIdleConnections: Int
    private var maximumConnections = 0
    /// Whether waiting transfers may start: a socket was opened, or a request went out, so the name is known or not
    /// needed.
    var gatesMayOpen = false
    /// Whether libcurl is closing its connections and wants no new watchers.
    private(set) var isCleaningUp = false
    /// The error that broke the multi, until the turn ends.
    var breakdown: HTTPClientError?
    /// Whether it gets no new transfers: the network or the files of TLS have changed since, or it is broken.
    var isRetired = false

    init(_ number: UInt64, for engine: isolated CurlEngine) throws {
        self.number = number
        self.engine = engine
        connections = engine.connections
        maximumIdleConnections = min(engine.configuration.maximumIdleConnections, 1 << 20)  // no process has more
        listener = DescriptorWatcher.Listener(for: engine) { $0.socketIsReady($1.0, $1.1, in: number) }
        timer = try LoopTimer(for: engine) { $0.timePassed(in: number) }
        idleTimer = try LoopTimer(for: engine) { $0.idleTimePassed(in: number) }
        multi = CurlMulti(box: Unmanaged.passUnretained(self).toOpaque())
        if multi == nil { throw CurlFailure.noResources("libcurl makes no handle") }
        limitConnections()
    }

    /// Limits the idle connections. When libcurl checks, at the end of a transfer, whether it has too many idle ones,
    /// it counts connections in use as well, so the limit adds those of the other running transfers. (If one call
    /// finishes several, a few more stay for a while.)
    private func limitConnections() {
        let maximum = maximumIdleConnections + max(0, running - 1)
        guard maximum != maximumConnections else { return }
        maximumConnections = maximum
        multi?.limitConnections(to: maximum)
    }

    /// Lends the generation of a callback's box. It is not retained: the engine has a reference until the last callback
    /// has returned.
    static func lend(_ box: UnsafeMutableRawPointer?, _ body: (Generation) -> Void) {
        if let box { Unmanaged<Generation>.fromOpaque(box)._withUnsafeGuaranteedRef(body) }
    }

    /// Closes the connections, which calls the callbacks. No transfer may be left.
    func cleanUp() {
        isCleaningUp = true
        idleHandles = []  // they use the share
        multi?.cleanUp()
        multi = nil
        for socket in sockets.all { socket.close() }
        sockets = WatchedSockets()
        timer.stop()
        idleTimer.stop()
        isDue = false
    }

    /// Whether libcurl has asked to be called immediately since the last time this was called.
    func takeDue() -> Bool {
        defer { isDue = false }
        return isDue
    }

    /// Lets the loop look at its other sockets and timers first, if libcurl wants to be called immediately.
    func putOffWhatIsDue() {
        guard takeDue() else { return }
        timer.start(after: .zero)
        isTimerSet = true
    }

    // MARK: Easy handles

    /// Returns a handle for a transfer: one that has been used before, if there is one.
    func handle() -> EasyHandle? {
        guard let multi, let handle = idleHandles.popLast() ?? EasyHandle() else { return nil }
        if !handle.isPrepared { handle.prepare(engine.settings, in: self, share: multi.share) }
        return handle
    }

    /// Keeps the handle of a transfer that ended well, if libcurl has not allocated more for it than for a new one.
    func takeBack(_ handle: EasyHandle) {
        guard idleHandles.count < Self.keptHandles, multi != nil, !handle.isForOneTransfer else { return }
        if handle.finishTransfer() { idleHandles.append(handle) }
    }

    // MARK: Sockets

    /// The transfers that are sending bodies, by their sockets.
    @exclusivity(unchecked) private var uploads: [curl_socket_t: CurlTransfer] = [:]

    /// Notes that a transfer connects or sends on this socket.
    private func noteUpload(of transfer: CurlTransfer, on descriptor: curl_socket_t) {
        guard transfer.upload != nil, uploads[descriptor] !== transfer else { return }
        forgetUpload(of: transfer)
        transfer.sockets.upload = descriptor
        uploads[descriptor] = transfer
        guard let configured = engine.configuration.unacknowledgedTimeout?.milliseconds else { return }
        let limit = transfer.unacknowledgedLimit.map { max($0, configured) }
        connections.limitUnacknowledged(on: descriptor, to: limit ?? 0)
    }

    /// Notes that it sends no more there, so that the connection is as any other.
    func forgetUpload(of transfer: CurlTransfer) {
        let descriptor = transfer.sockets.upload
        guard uploads[descriptor] === transfer else { return }
        uploads[descriptor] = nil
        guard let configured = engine.configuration.unacknowledgedTimeout?.milliseconds else { return }
        connections.limitUnacknowledged(on: descriptor, to: configured)
    }

    /// Called when libcurl is about to close a connection.
    func socketCloses(_ descriptor: curl_socket_t) {
        uploads.removeValue(forKey: descriptor)?.keepUnreadAnswer(from: descriptor)
        socketGone(descriptor)
    }

    /// The connections on which bodies are sent.
    var uploadSockets: some Sequence<curl_socket_t> { uploads.keys }

    /// Whether a transfer has the connection.
    func isInUse(_ descriptor: curl_socket_t) -> Bool { sockets[descriptor]?.isWanted ?? false }

    /// Notes that the socket is a connection now, whose closing libcurl will report. A Unix socket is one immediately,
    /// before libcurl wants it watched: until then it is watched as one that rests.
    func socketConnected(_ descriptor: curl_socket_t, of transfer: CurlTransfer) {
        if let known = sockets[descriptor] { return known.isConnected = true }
        guard !isCleaningUp, let socket = watch(descriptor) else { return }
        socket.isConnected = true
        socket.rest(after: transfer.id)
        socket.watchIdle()
        setIdleTimer(to: engine.configuration.maximumIdleTime.nanosecondsRoundedUp)
    }

    /// Forgets a number that is no longer a socket that we know, or belongs to another one.
    func socketGone(_ descriptor: curl_socket_t) { sockets.remove(descriptor)?.close() }

    // MARK: libcurl's callbacks: nothing in here calls libcurl

    func socketChanged(_ descriptor: curl_socket_t, to change: CInt, for easy: UnsafeMutableRawPointer?) {
        guard change != CURL_POLL_REMOVE else {
            // A connection stays watched for its next transfer.
            if let socket = sockets[descriptor], socket.isConnected {
                socket.rest(after: easy.flatMap { EasyHandle.transfer(of: $0)?.id })
                return setIdleTimer(to: engine.configuration.maximumIdleTime.nanosecondsRoundedUp)
            }
            // libcurl may have closed the descriptor by now, which does not matter for closing the watcher.
            return socketGone(descriptor)
        }
        guard !isCleaningUp else { return }
        let transfer = easy.flatMap { EasyHandle.transfer(of: $0) }  // a handle of libcurl's own has none
        var interest = Readiness(rawValue: 0)
        if change & CURL_POLL_IN != 0 { interest.insert(.readable) }
        if change & CURL_POLL_OUT != 0 {
            interest.insert(.writable)
            if let transfer { noteUpload(of: transfer, on: descriptor) }
        }
        transfer?.sockets.isWatched(descriptor, for: interest)
        (sockets[descriptor] ?? watch(descriptor))?.watch(for: interest, of: transfer?.id)
    }

    /// Makes a watcher for a socket that has none.
    private func watch(_ descriptor: curl_socket_t) -> WatchedSocket? {
        do throws(EventLoopError) {
            let socket = WatchedSocket(try DescriptorWatcher(of: descriptor, on: engine.eventLoop, listener))
            sockets.add(socket, as: descriptor)
            return socket
        } catch {
            // Checked at the end of the turn, to which every call into libcurl leads.
            breakdown = CurlFailure.noResources(error.message)
            return nil
        }
    }

    /// Sets the timer for idle connections, in nanoseconds. If it is set already, that is for one that will have been
    /// idle for long enough before this one.
    func setIdleTimer(to delay: Int64) {
        guard !isIdleTimerSet, !isCleaningUp else { return }
        isIdleTimerSet = true
        idleTimer.start(afterNanoseconds: delay)
    }

    func timerChanged(to milliseconds: Int) {
        guard !isCleaningUp else { return }
        isDue = milliseconds == 0  // every call into libcurl leads to the end of a turn
        if milliseconds > 0 {
            let (delay, overflow) = Int64(milliseconds).multipliedReportingOverflow(by: 1_000_000)
            timer.start(afterNanoseconds: overflow ? .max : delay)
        } else if isTimerSet {
            timer.stop()
        }
        isTimerSet = milliseconds > 0
    }
}
