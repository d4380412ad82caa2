// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import HTTPTypes
import UplinkHTTP

/// The events for a transfer's observer, and their times. Transfers without an observer have no log.
///
/// Callbacks note events; the engine delivers them at the end of the turn, outside any C frame and lock. Only for the
/// loop's thread.
final class EventLog {
    typealias Observer = @Sendable (HTTPEvent) -> Void

    private let observer: Observer
    private var pending: [HTTPEvent] = []
    private let submittedAt: Int64
    private var startedAt: Int64?
    private var handedOverAt: Int64?
    private var requestAt: Int64?
    private var firstByteAt: Int64?
    private var headAt: Int64?
    private var connection: HTTPConnection?

    init(_ observer: @escaping Observer, now: Int64) {
        self.observer = observer
        submittedAt = now
        pending = [.queued]
    }

    /// Notes an event without a time.
    func note(_ event: HTTPEvent) { pending.append(event) }

    /// Notes that the transfer's turn has come.
    func start(now: Int64) {
        startedAt = now
        pending.append(.started)
    }

    /// Notes that libcurl has the transfer now.
    func handOver(now: Int64) { handedOverAt = now }

    func connect(_ connection: HTTPConnection, now: Int64) {
        requestAt = now
        self.connection = connection
        pending.append(.connected(connection))
    }

    /// Notes that a head begins; it is the final one unless another follows.
    func beginHead(now: Int64) { firstByteAt = now }

    func finishHead(_ status: HTTPResponse.Status, now: Int64) {
        headAt = now
        pending.append(.head(status))
    }

    /// Takes the events to deliver now, with their observer.
    func take() -> Announcement? {
        guard !pending.isEmpty else { return nil }
        defer { pending = [] }
        return Announcement(observer: observer, events: pending)
    }

    /// Ends the log. The handle must not have left libcurl yet.
    ///
    /// - Parameters:
    ///   - taken: How much of the request's body libcurl has taken.
    ///   - received: How much of the response's body has come.
    func finish(
        _ outcome: (any Error)?, _ handle: EasyHandle?, taken: Int64, received: Int64, now: Int64
    ) -> Announcement? {
        var first = take() ?? Announcement(observer: observer, events: [])
        var timings = timings(handle, now: now)
        timings.sentBytes = min(timings.sentBytes, taken)  // libcurl counts what frames chunks, too
        timings.receivedBytes = received
        first.events.append(outcome.map { .failed($0 as? HTTPClientError, timings) } ?? .finished(timings))
        return first
    }

    private func timings(_ handle: EasyHandle?, now: Int64) -> HTTPTimings {
        var timings = HTTPTimings()
        timings.total = .nanoseconds(now - submittedAt)
        timings.queue = startedAt.map { .nanoseconds($0 - submittedAt) }
        timings.connection = connection
        timings.firstByte = between(requestAt, firstByteAt)
        timings.body = headAt.map { .nanoseconds(now - $0) }
        guard let handle else { return timings }
        timings.sentBytes = handle.offset(CURLINFO_SIZE_UPLOAD_T)
        guard connection?.isReused != true else { return timings }
        // libcurl counts microseconds from its own start, and each figure includes the earlier ones.
        let lookup = handle.offset(CURLINFO_NAMELOOKUP_TIME_T)
        let connect = handle.offset(CURLINFO_CONNECT_TIME_T)
        let tls = handle.offset(CURLINFO_APPCONNECT_TIME_T)
        if lookup > 0 { timings.nameLookup = .microseconds(lookup) + (between(startedAt, handedOverAt) ?? .zero) }
        if connect > 0 { timings.connect = .microseconds(max(0, connect - lookup)) }
        if tls > 0 { timings.tls = .microseconds(max(0, tls - connect)) }
        return timings
    }

    private func between(_ start: Int64?, _ end: Int64?) -> Duration? {
        guard let start, let end, end >= start else { return nil }
        return .nanoseconds(end - start)
    }
}

/// Events for one observer.
struct Announcement {
    let observer: EventLog.Observer
    var events: [HTTPEvent]

    func tell() { for event in events { observer(event) } }
}

extension CurlTransfer {
    /// Whether anything needs the addresses of the connection.
    var needsAddresses: Bool { events != nil || generation?.engine.configuration.networkChanges != nil }

    /// Notes that the request goes out on a connection with these ends.
    func connectionStands(local: (String, CInt), remote: (String, CInt), now: Int64) {
        sockets.localAddress = local.0
        defer { sockets.sinceRequest = 0 }
        guard let events else { return }
        var connection = HTTPConnection()
        connection.isReused = sockets.sinceRequest == 0
        // Asked inside the callback, as in libcurl's documentation: by the end of the turn, the answer may have come
        // and the connection be gone.
        if !connection.isReused { connection.isTLSResumed = handle?.isTLSResumed }
        connection.localAddress = Self.text(local)
        connection.remoteAddress = Self.text(remote)
        events.connect(connection, now: now)
    }

    private static func text(_ end: (address: String, port: CInt)) -> String {
        if end.address.isEmpty || end.address.contains("/") { return "" }  // the path of a Unix socket
        return end.address.contains(":") ? "[\(end.address)]:\(end.port)" : "\(end.address):\(end.port)"
    }
}
