// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkEventLoop
import UplinkHTTP

/// One `CURLM` with everything that belongs to it: connections, TLS sessions, looked-up names, watched sockets, a timer.
///
/// When the way to the internet changes, new transfers get a new generation, in which nothing of the old network is left;
/// the old one lives until its transfers have ended. The loop's thread only.
final class Generation {
    let number: UInt64
    /// Outlives the generation, which it owns.
    unowned let engine: CurlEngine
    let connections: ConnectionTable
    @exclusivity(unchecked) private(set) var multi: CurlMulti?
    private let timer: LoopTimer
    private var isTimerSet = false
    /// libcurl wants to be called at once: when the turn ends.
    private(set) var isDue = false
    @exclusivity(unchecked) var sockets = WatchedSockets()
    /// What all of them report to.
    private let listener: DescriptorWatcher.Listener
    /// Handles for later transfers; 5 KB each, and 4 KB of fields at most.
    @exclusivity(unchecked) private var idleHandles: [EasyHandle] = []
    private static let keptHandles = 64
    /// The transfers that libcurl has.
    var transfers = 0
    /// Those of them that it has not finished, as far as it has said.
    var running = 0 {
        didSet { limitConnections() }
    }
    private let maximumIdleConnections: Int
    private var maximumConnections = 0
    /// Somebody who resolved a name for others may have done so, or needs none: a socket was opened or a request goes out.
    var gatesMayOpen = false
    /// libcurl is closing its connections and wants no new watchers.
    private(set) var isCleaningUp = false
    /// What broke the multi, until the turn ends.
    var breakdown: HTTPClientError?
    /// No new transfers: the network was another one then.
    var isRetired = false

    init(_ number: UInt64, for engine: isolated CurlEngine) throws {
        self.number = number
        self.engine = engine
        connections = engine.connections
        maximumIdleConnections = min(engine.configuration.maximumIdleConnections, 1 << 20)  // no process has more
        listener = DescriptorWatcher.Listener(for: engine) { $0.socketIsReady($1.0, $1.1, in: number) }
        timer = try LoopTimer(for: engine) { $0.timePassed(in: number) }
        multi = CurlMulti(box: Unmanaged.passUnretained(self).toOpaque())
        if multi == nil { throw CurlFailure.noResources("libcurl makes no handle") }
        limitConnections()
    }

    /// libcurl counts connections in use too when it looks, at the end of a transfer, whether it has too many idle ones.
    /// So those of the others that run come on top. (Where one call finishes several, some more stay for a while.)
    private func limitConnections() {
        let maximum = maximumIdleConnections + max(0, running - 1)
        guard maximum != maximumConnections else { return }
        maximumConnections = maximum
        multi?.limitConnections(to: maximum)
    }

    /// Lends the generation of a callback's box, which gets no other reference: the engine has one until the last
    /// callback has returned.
    static func lend(_ box: UnsafeMutableRawPointer?, _ body: (Generation) -> Void) {
        if let box { Unmanaged<Generation>.fromOpaque(box)._withUnsafeGuaranteedRef(body) }
    }

    /// Closes the connections; the callbacks are called meanwhile. No transfer may be left.
    func cleanUp() {
        isCleaningUp = true
        idleHandles = []  // they hold the share
        multi?.cleanUp()
        multi = nil
        for socket in sockets.all { socket.close() }
        sockets = WatchedSockets()
        timer.stop()
        isDue = false
    }

    /// Whether libcurl has asked to be called at once since this was asked last.
    func takeDue() -> Bool {
        defer { isDue = false }
        return isDue
    }

    /// Lets the loop look at its other sockets and timers first, if libcurl wants to be called at once.
    func putOffWhatIsDue() {
        guard takeDue() else { return }
        timer.start(after: .zero)
        isTimerSet = true
    }

    // MARK: Easy handles

    /// A handle for a transfer: one that has been used before, if there is one.
    func handle() -> EasyHandle? {
        guard let multi, let handle = idleHandles.popLast() ?? EasyHandle() else { return nil }
        if !handle.isPrepared { handle.prepare(engine.settings, in: self, share: multi.share) }
        return handle
    }

    /// Keeps the handle of a transfer that ended well, and whose memory libcurl has left as it was made.
    func takeBack(_ handle: EasyHandle) {
        guard idleHandles.count < Self.keptHandles, multi != nil, !handle.isForOneTransfer else { return }
        handle.finishTransfer()
        idleHandles.append(handle)
    }

    // MARK: Sockets

    /// The transfers whose bodies go out, by their sockets.
    @exclusivity(unchecked) private var uploads: [curl_socket_t: CurlTransfer] = [:]

    /// A transfer connects or sends here.
    private func noteUpload(of transfer: CurlTransfer, on descriptor: curl_socket_t) {
        guard transfer.upload != nil else { return }
        forgetUpload(transfer, on: transfer.uploadSocket)
        transfer.uploadSocket = descriptor
        uploads[descriptor] = transfer
    }

    func forgetUpload(_ transfer: CurlTransfer, on descriptor: curl_socket_t) {
        if uploads[descriptor] === transfer { uploads[descriptor] = nil }
    }

    /// libcurl is about to close a connection.
    func socketCloses(_ descriptor: curl_socket_t) {
        uploads.removeValue(forKey: descriptor)?.salvage(from: descriptor)
        socketGone(descriptor)
    }

    /// Whether a transfer has the connection.
    func isInUse(_ descriptor: curl_socket_t) -> Bool { sockets[descriptor]?.isWanted ?? false }

    /// A connection has been made on the socket: from here on its closing will be told.
    func socketConnected(_ descriptor: curl_socket_t) { sockets[descriptor]?.isConnected = true }

    /// The number is no socket any more that we know, or another one.
    func socketGone(_ descriptor: curl_socket_t) { sockets.remove(descriptor)?.close() }

    // MARK: libcurl's callbacks: nothing in here calls libcurl

    func socketChanged(_ descriptor: curl_socket_t, to change: CInt, for easy: UnsafeMutableRawPointer?) {
        guard change != CURL_POLL_REMOVE else {
            // A connection stays watched for its next transfer; stopping and starting would be two system calls for each.
            if let socket = sockets[descriptor], socket.isConnected {
                return socket.rest(after: easy.flatMap { EasyHandle.transfer(of: $0)?.id })
            }
            // libcurl may have closed the descriptor by now; closing the watcher does not mind.
            return socketGone(descriptor)
        }
        guard !isCleaningUp else { return }
        let transfer = easy.flatMap { EasyHandle.transfer(of: $0) }  // of a handle of libcurl's own there is none
        transfer?.watchedSocket = descriptor
        var interest = Readiness(rawValue: 0)
        if change & CURL_POLL_IN != 0 { interest.insert(.readable) }
        if change & CURL_POLL_OUT != 0 {
            interest.insert(.writable)
            if let transfer { noteUpload(of: transfer, on: descriptor) }
        }
        if let known = sockets[descriptor] { return known.watch(for: interest) }
        do throws(EventLoopError) {
            let socket = WatchedSocket(try DescriptorWatcher(of: descriptor, on: engine.eventLoop, listener))
            sockets.add(socket, as: descriptor)
            socket.watch(for: interest)
        } catch {
            // Looked at when the turn ends, which every way into libcurl comes to.
            breakdown = CurlFailure.noResources(error.message)
        }
    }

    func timerChanged(to milliseconds: Int) {
        guard !isCleaningUp else { return }
        isDue = milliseconds == 0  // every way into libcurl ends in a turn's end
        if milliseconds > 0 {
            let (delay, overflow) = Int64(milliseconds).multipliedReportingOverflow(by: 1_000_000)
            timer.start(afterNanoseconds: overflow ? .max : delay)
        } else if isTimerSet {
            timer.stop()
        }
        isTimerSet = milliseconds > 0
    }
}

/// The sockets of a generation, each in the place that its number names: the kernel gives the lowest that is free.
struct WatchedSockets {
    private var places: [WatchedSocket?] = []

    var all: some Sequence<WatchedSocket> { places.lazy.compactMap { $0 } }

    subscript(descriptor: curl_socket_t) -> WatchedSocket? {
        places.indices.contains(Int(descriptor)) ? places[Int(descriptor)] : nil
    }

    mutating func add(_ socket: WatchedSocket, as descriptor: curl_socket_t) {
        let missing = Int(descriptor) + 1 - places.count
        if missing > 0 { places.append(contentsOf: repeatElement(nil, count: missing)) }
        places[Int(descriptor)] = socket
    }

    mutating func remove(_ descriptor: curl_socket_t) -> WatchedSocket? {
        guard let socket = self[descriptor] else { return nil }
        places[Int(descriptor)] = nil
        return socket
    }
}

/// A socket that libcurl wants watched.
final class WatchedSocket {
    private let watcher: DescriptorWatcher
    private var interest: Readiness = []
    /// libuv has stopped the watcher because of an error on the socket, or we have.
    private var isStopped = false
    /// libcurl wants to hear of it now.
    private(set) var isWanted = false
    /// Who has wanted to hear of it before nobody did: it has ended, or is paused.
    private(set) var lastTransfer: UInt64?
    /// It is a connection, whose closing libcurl tells (`CLOSESOCKETFUNCTION`). Sockets that have not become one are
    /// closed without a word.
    var isConnected = false

    init(_ watcher: DescriptorWatcher) { self.watcher = watcher }

    /// Watches for this alone. Registers anew even when nothing changed, unless it is a connection: else the number may be
    /// another socket's by now.
    func watch(for interest: Readiness) {
        isWanted = true
        if isConnected, !isStopped, self.interest == interest { return }
        self.interest = interest
        isStopped = false
        watcher.start(interest)
    }

    /// Nobody wants to hear of it for now.
    ///
    /// - Parameter transfer: Which transfer has wanted to, if it is one of ours.
    func rest(after transfer: UInt64?) { (isWanted, lastTransfer) = (false, transfer) }

    func stop() {
        isStopped = true
        watcher.stop()
    }

    func didStop() { isStopped = true }

    /// Goes on after an error, if libcurl has not said otherwise meanwhile.
    func goOn() { if isStopped, isWanted { watch(for: interest) } }

    func close() { watcher.close() }
}
