// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkEventLoop

/// A socket that libcurl wants watched. Only for the loop's thread.
final class WatchedSocket {
    private let watcher: DescriptorWatcher
    /// What libcurl last wanted to know about.
    private var interest: Readiness = []
    /// What the watcher listens for; nothing if it was stopped, by us or, because of an error on the socket, by libuv.
    private var heard: Readiness = []
    /// Whether libcurl wants to know about it now, and for which transfer, if it is one of ours.
    private(set) var isWanted = false
    private(set) var user: UInt64?
    /// The transfer that last wanted to know about it, and has ended or is paused since.
    private(set) var lastTransfer: UInt64?
    /// When that was, by the loop's clock.
    private(set) var restsSince: Int64 = 0
    /// Whether the connection was ended here. libcurl closes it when it finds out.
    private(set) var isEnded = false
    /// Whether nobody listens for what is to be read, nor for errors, though libcurl wants that.
    private(set) var isReadingHeld = false
    /// Whether it is a connection, whose closing libcurl reports (`CLOSESOCKETFUNCTION`). It closes sockets that have
    /// not become one without a report.
    var isConnected = false

    init(_ watcher: DescriptorWatcher) { self.watcher = watcher }

    /// While it is reported as ready: when the loop learned of that.
    var timeOfEvents: Int64 { watcher.timeOfEvents }

    /// Whether libcurl wants to write.
    var isForWriting: Bool { interest.contains(.writable) }

    func watch(for interest: Readiness, of user: UInt64?) {
        (isWanted, self.user, self.interest, isReadingHeld, isEnded) = (true, user, interest, false, false)
        listen()
    }

    /// Stops listening for what is to be read while its transfer is paused: libcurl 8.5 wants to know of that all the
    /// same, and would then read it and keep it.
    func holdReading() {
        isReadingHeld = true
        listen()
    }

    /// Listens for that again, because the transfer goes on.
    func readOn() {
        guard isReadingHeld else { return }
        isReadingHeld = false
        if isWanted { listen() }
    }

    /// Notes that no one wants to know about it for now. It stays watched, because stopping and starting would cost two
    /// system calls for each transfer.
    ///
    /// - Parameter transfer: The transfer that wanted to, if it is one of ours.
    func rest(after transfer: UInt64?) {
        (isWanted, lastTransfer, restsSince) = (false, transfer, watcher.timeOfEvents)
    }

    /// Listens, while no one wants to know about it, only for what may come.
    func watchIdle() {
        interest = .readable
        listen()
    }

    func stop() {
        heard = []
        watcher.stop()
    }

    func didStop() { heard = [] }

    /// Stops for good, because the connection ends.
    func end() {
        stop()
        isEnded = true
    }

    /// Goes on listening after an error, unless libcurl has said otherwise meanwhile.
    func goOn() { if isWanted, heard.isEmpty { listen() } }

    func close() { watcher.close() }

    /// Registers again even if nothing has changed, unless it is a connection: the number may be another socket's by
    /// now.
    private func listen() {
        let wanted = isReadingHeld ? interest.subtracting(.readable) : interest
        if isConnected, wanted == heard { return }
        heard = wanted
        if wanted.isEmpty { watcher.stop() } else { watcher.start(wanted) }
    }
}

/// The sockets of a generation, indexed by their numbers: the kernel gives out the lowest that is free.
struct WatchedSockets {
    private var places: [WatchedSocket?] = []

    var all: some Sequence<WatchedSocket> { places.lazy.compactMap { $0 } }

    /// The connections that no transfer wants to know about.
    var idle: [curl_socket_t] {
        places.indices.compactMap { index in
            places[index].flatMap { $0.isConnected && !$0.isWanted && !$0.isEnded ? curl_socket_t(index) : nil }
        }
    }

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
