// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

extension CurlTransfer {
    /// Opens a socket that libcurl wants for an address. A bad one makes it go on to the next address.
    func openSocket(_ wish: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        guard let generation else { return -1 }
        let configuration = generation.engine.configuration
        if configuration.publicAddressesOnly, !sockets.isPublic(IPAddress(of: wish)) { return -1 }
        let kind = wish.pointee.socktype | CInt(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(wish.pointee.family, kind, wish.pointee.`protocol`)
        guard descriptor >= 0 else {
            sockets.noteShortage()
            return descriptor
        }
        guard !DescriptorRoom.isOneOfTheLast(descriptor) else {
            close(descriptor)
            errno = EMFILE
            sockets.noteShortage()
            return -1
        }
        guard wish.pointee.family == AF_UNIX || sockets.bind(descriptor, to: configuration.localEnd) else {
            close(descriptor)
            return -1
        }
        generation.socketGone(descriptor)  // forgets what had the number before
        sockets.add(generation.connections.opened(descriptor))
        generation.gatesMayOpen = true
        if wish.pointee.family != AF_UNIX, let limit = configuration.unacknowledgedTimeout {
            ConnectionTable.limit(descriptor, to: limit.milliseconds)
        }
        return descriptor
    }

    /// Called when the answer is whole. Closes the connection if the server sent anything beyond that, which would be
    /// taken for the answer to the next request; libcurl may send that immediately.
    func endConnectionIfMoreComes() {
        guard let handle else { return }
        let isMoreInKernel = sockets.watched >= 0 && ConnectionTable.hasUnreadBytes(sockets.watched)
        guard isMoreInKernel || !isInClear && handle.hasMoreFromTLS else { return }
        handle.forbidReuse()
    }

    /// The same for exchanges that last longer than what can be seen of the answer: for chunks, whose end only libcurl
    /// knows, and for an answer that came before the end of the request. libcurl reports such an end when it has
    /// released the connection; that is closed if no other transfer has it yet.
    func endIdleConnectionIfMoreCame(in generation: Generation) {
        guard framing?.kind == .chunked || upload != nil, let socket = handle?.socket, socket >= 0,
            !generation.isInUse(socket)
        else { return }
        if ConnectionTable.hasUnreadBytes(socket) { ConnectionTable.discard(socket) }
    }

    /// Listens for libcurl's report of leftovers. What it has already read beyond an answer without a body, or beyond
    /// the last chunk, it discards, and uses the connection again; it says so only in its log.
    func hearOfLeftovers() {
        // What lies in the TLS to a proxy, under the TLS to the server, nobody can see.
        if url.scheme == .https, proxy?.kind == .https { handle?.forbidReuse() }
        switch framing?.kind {
        case .some(.none), .length(0), .chunked: handle?.setTelling(true)
        case .length, .untilClose, nil: break
        }
    }

    /// Handles a line of libcurl's log.
    func toldText(_ text: UnsafeRawBufferPointer) {
        guard text.starts(with: "Excess found".utf8) || text.starts(with: "Leftovers after chunking".utf8) else {
            return
        }
        handle?.forbidReuse()
    }

    /// Whether the traffic on the transfer's socket can be read without keys.
    var isInClear: Bool { url.scheme == .http && proxy?.kind != .https }

    /// Whether a connection is being made: the first, or another one for a request whose connection has turned out
    /// dead.
    var isConnecting: Bool { isConnecting(in: machine.phase) }

    /// Whether one was being made when it ended, without an answer.
    var wasConnecting: Bool { !hasFinalHead && isConnecting(in: machine.lastPhase) }

    private func isConnecting(in phase: TransferMachine.Phase) -> Bool {
        switch phase {
        case .queued, .gated, .ended: false
        case .connecting: true
        case .awaitingHead, .bodyFlowing, .bodyPaused: sockets.sinceRequest > 0
        }
    }

    /// Whether a proxy has asked for other credentials, which ends the transfer: libcurl would read what else the proxy
    /// sends, without a pause, for ever if the proxy makes none; and before 8.1 append folded trailers to freed fields.
    var isTunnelRefused: Bool { isConnecting && handle?.long(CURLINFO_HTTP_CONNECTCODE) == 407 }

    /// Whether the own address of the transfer's connection, or of each that is being made for it, is gone.
    func isOnAddress(where isGone: (IPAddress) -> Bool) -> Bool {
        switch machine.phase {
        case .queued, .gated, .ended: return false
        case .connecting, .awaitingHead, .bodyFlowing, .bodyPaused:
            guard isConnecting else { return sockets.localAddress.flatMap { IPAddress($0) }.map(isGone) ?? false }
            let addresses = sockets.all.suffix(sockets.sinceRequest).filter(\.isCurrent).compactMap(\.localAddress)
                .filter { !$0.isUnspecified }
            return !addresses.isEmpty && addresses.allSatisfy(isGone)
        }
    }

    /// Whether the request goes over an existing connection, so that no name was looked up for it.
    var usesKnownConnection: Bool { sockets.all.isEmpty && machine.phase != .connecting }

    /// Whether TCP is connected, which libcurl reports only when TLS is, too. How far a proxy got beyond it is not
    /// known.
    var hasConnectedForTLS: Bool { url.scheme == .https && proxy == nil && sockets.hasConnected }
}

extension IPAddress {
    /// The address that libcurl wants to connect to.
    fileprivate init?(of wish: UnsafePointer<curl_sockaddr>) {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        // The address is larger than its field, which is the last one for that reason.
        let bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(wish).advanced(by: offset), count: Int(wish.pointee.addrlen))
        switch wish.pointee.family {
        case AF_INET where bytes.count >= 8: self.init(bytes: bytes[4..<8])
        case AF_INET6 where bytes.count >= 24: self.init(bytes: bytes[8..<24])
        default: return nil
        }
    }
}

extension Duration {
    /// Whole milliseconds, at least one, for the kernel and libcurl.
    var milliseconds: CInt {
        CInt(clamping: max(1, nanosecondsRoundedUp / 1_000_000))
    }

    /// Whole seconds, rounded up, for libcurl.
    var wholeSeconds: Int { Int(clamping: (nanosecondsRoundedUp - 1) / 1_000_000_000 + 1) }
}
