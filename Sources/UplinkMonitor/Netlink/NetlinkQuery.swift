// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc

/// Asks the kernel and reads its answer, on a socket used for nothing else.
///
/// The kernel answers while it takes the question, in microseconds. A question about a link is answered only once any
/// process that is changing the network at that moment has finished; sendto(2) waits for this without a limit,
/// recvmsg(2) has one.
final class NetlinkQuery {
    /// The outcome of an exchange.
    enum Reply: Equatable {
        /// The kernel answered. A dump is inconsistent when something changed while it was read.
        case answered(isConsistent: Bool)
        /// The kernel refused, with this error number.
        case refused(CInt)
    }

    private let socket: any NetlinkTransport
    private var sequence: UInt32 = 0

    init(over socket: any NetlinkTransport) { self.socket = socket }

    /// Makes a query with a socket of its own.
    convenience init() throws(NetlinkError) {
        let socket = try NetlinkSocket(isBlocking: true)
        try socket.setReceiveTimeout(seconds: 2)
        try socket.bindToAnyPort()
        self.init(over: socket)
    }

    /// Sends a request and calls `body` for each message of the answer.
    func ask(_ request: NetlinkRequest, _ body: (NetlinkHeader, RawSpan) -> Void) throws(NetlinkError) -> Reply {
        sequence = sequence == .max ? 1 : sequence + 1  // never 0, which events have
        try socket.send(request.numbered(sequence))
        var exchange = Exchange(sequence: sequence)
        while true {
            switch try socket.receive() {
            case .datagram:
                socket.withDatagram { datagram in
                    let isWellFormed = NetlinkParser.forEachMessage(in: datagram) { header, payload in
                        if exchange.accepts(header, payload) { body(header, payload) }
                    }
                    if !isWellFormed { exchange.isConsistent = false }
                }
                if let reply = exchange.reply { return reply }
            case .foreign: continue
            case .truncated: exchange.isConsistent = false
            case .empty: throw NetlinkError(call: "recvmsg(AF_NETLINK)", errno: ETIMEDOUT)
            case .overrun: throw NetlinkError(call: "recvmsg(AF_NETLINK)", errno: ENOBUFS)
            }
        }
    }
}

/// What is known about an answer while it is read.
struct Exchange {
    let sequence: UInt32
    var isConsistent = true
    private(set) var reply: NetlinkQuery.Reply?

    init(sequence: UInt32) { self.sequence = sequence }

    /// Processes a message; returns whether it carries content.
    mutating func accepts(_ header: NetlinkHeader, _ payload: RawSpan) -> Bool {
        guard header.sequence == sequence, reply == nil else { return false }  // of a question that was given up
        if Int32(header.flags) & NLM_F_DUMP_INTR != 0 { isConsistent = false }
        switch Int32(header.type) {
        case NLMSG_NOOP: return false
        case NLMSG_OVERRUN:
            isConsistent = false
            return false
        case NLMSG_DONE, NLMSG_ERROR:
            let code = payload.integer(at: 0, as: CInt.self) ?? 0
            reply = code < 0 && code != .min ? .refused(-code) : .answered(isConsistent: isConsistent)
            return false
        default:
            if Int32(header.flags) & NLM_F_MULTI == 0 { reply = .answered(isConsistent: isConsistent) }
            return true
        }
    }
}
