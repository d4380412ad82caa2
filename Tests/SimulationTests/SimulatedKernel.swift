// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

@testable import UplinkMonitor

/// A kernel with a few links, addresses and default routes, which answers netlink's questions about them and tells of
/// changes: late, sometimes not at all, never in another order.
final class SimulatedKernel {
    struct Link: Equatable {
        var name: String
        /// Switched on, with a carrier.
        var isUp = true
    }

    struct Address: Equatable {
        let index: UInt32
        let address: IPAddress
        var flags: UInt8 = 0
    }

    struct Route: Equatable {
        let family: IPAddress.Family
        let index: UInt32
        let metric: UInt32
    }

    let dice: Dice
    private(set) var links: [UInt32: Link] = [:]
    private(set) var addresses: [Address] = []
    private(set) var routes: [Route] = []
    /// Messages that were not read yet.
    private(set) var untold: [[UInt8]] = []
    /// Messages were dropped, which is not told yet.
    private var hasDropped = false
    private var answers: [UInt8] = []
    /// Whether something may change between two questions.
    var isRestless = true

    init(_ dice: Dice) { self.dice = dice }

    /// Nothing is still to be told.
    var isQuiet: Bool { untold.isEmpty && !hasDropped }

    var events: any NetlinkTransport { Side(of: self, events: true) }
    var questions: any NetlinkTransport { Side(of: self, events: false) }
    /// A socket on which nothing is ever told.
    static var silence: any NetlinkTransport { Side(of: nil, events: true) }

    // MARK: What changes

    func change() {
        let index = UInt32(2 + dice.roll(3))
        switch dice.roll(8) {
        case 0, 1: setLink(index, isUp: dice.isOne(in: 2))
        case 2: removeLink(index)
        case 3, 4: changeAddress(on: index)
        default: changeRoute(on: index)
        }
        dice.tell("the kernel has \(links), \(addresses), \(routes)")
    }

    private func setLink(_ index: UInt32, isUp: Bool) {
        links[index] = Link(name: dice.isOne(in: 9) ? "new\(index)" : links[index]?.name ?? "eth\(index)", isUp: isUp)
        // The routes go without a word, as IPv4's do.
        if !isUp { routes.removeAll { $0.index == index } }
        untold.append(message(about: index).numbered(0))
    }

    private func removeLink(_ index: UInt32) {
        guard links[index] != nil else { return }
        if dice.isOne(in: 2) {
            for address in addresses where address.index == index {
                untold.append(message(about: address, isGone: true).numbered(0))
            }
        }
        untold.append(message(about: index, isGone: true).numbered(0))
        links[index] = nil
        addresses.removeAll { $0.index == index }
        routes.removeAll { $0.index == index }
    }

    private func changeAddress(on index: UInt32) {
        guard links[index] != nil else { return }
        let number = UInt8(dice.roll(2))
        let text = dice.isOne(in: 2) ? "192.0.2.\(index)\(number)" : "2001:db8::\(index)\(number)"
        guard let address = IPAddress(text) else { return }
        if let place = addresses.firstIndex(where: { $0.address == address }) {
            if dice.isOne(in: 2) {
                untold.append(message(about: addresses.remove(at: place), isGone: true).numbered(0))
            } else {
                addresses[place].flags ^= 0x40  // tentative
                untold.append(message(about: addresses[place]).numbered(0))
            }
        } else {
            addresses.append(Address(index: index, address: address))
            untold.append(message(about: addresses[addresses.count - 1]).numbered(0))
        }
    }

    private func changeRoute(on index: UInt32) {
        guard links[index]?.isUp == true else { return }
        let route = Route(family: dice.isOne(in: 3) ? .ipv6 : .ipv4, index: index, metric: UInt32(100 + dice.roll(2)))
        let isThere = routes.contains(route)
        if isThere { routes.removeAll { $0 == route } } else { routes.append(route) }
        untold.append(message(about: route, isGone: isThere).numbered(0))
    }

    /// Makes the network well.
    func heal() {
        let index: UInt32 = 2
        if links[index]?.isUp != true { setLink(index, isUp: true) }
        for address in addresses where address.index == index {
            untold.append(message(about: address, isGone: true).numbered(0))
        }
        addresses.removeAll { $0.index == index }
        if let address = IPAddress("192.0.2.99") { addresses.append(Address(index: index, address: address)) }
        untold.append(message(about: addresses[addresses.count - 1]).numbered(0))
        let route = Route(family: .ipv4, index: index, metric: 1)
        if !routes.contains(route) { routes.append(route) }
        untold.append(message(about: route).numbered(0))
    }

    /// The receiver was too slow.
    func drop() {
        guard !untold.isEmpty else { return }
        untold.removeFirst(1 + dice.roll(untold.count))
        hasDropped = true
    }

    // MARK: Messages

    private func message(about index: UInt32, isGone: Bool = false, flags: Int32 = 0) -> NetlinkRequest {
        var message = NetlinkRequest(isGone ? 17 : 16, flags: flags)  // RTM_DELLINK, RTM_NEWLINK
        let link = links[index] ?? Link(name: "", isUp: false)
        message.append(UInt16(0))  // the family
        message.append(UInt16(1))
        message.append(index)
        message.append(UInt32(link.isUp ? 0x1_1043 : 0x1002))
        message.append(UInt32.max)
        message.append(attribute: 3, Array(link.name.utf8) + [0])  // IFLA_IFNAME
        message.append(attribute: 18, [8, 0, 1, 0] + Array("veth".utf8))  // IFLA_LINKINFO
        return message
    }

    private func message(about address: Address, isGone: Bool = false, flags: Int32 = 0) -> NetlinkRequest {
        var message = NetlinkRequest(isGone ? 21 : 20, flags: flags)  // RTM_DELADDR, RTM_NEWADDR
        message.append(address.address.family.kernel)
        message.append(UInt8(24))
        message.append(address.flags)
        message.append(UInt8(0))
        message.append(address.index)
        message.append(attribute: address.address.family == .ipv4 ? 2 : 1, address.address.bytes)
        return message
    }

    private func message(about route: Route, isGone: Bool = false) -> NetlinkRequest {
        var message = NetlinkRequest(isGone ? 25 : 24)  // RTM_DELROUTE, RTM_NEWROUTE
        for byte in [route.family.kernel, 0, 0, 0, 254, 3, 0, 1] { message.append(byte) }
        message.append(UInt32(0))
        message.append(attribute: 4, route.index)  // RTA_OIF
        message.append(attribute: 6, route.metric)  // RTA_PRIORITY
        message.append(attribute: 5, gateway(of: route).bytes)  // RTA_GATEWAY
        let source = addresses.first {
            $0.index == route.index && $0.address.family == route.family && $0.flags & 0x40 == 0
        }
        if let source { message.append(attribute: 7, source.address.bytes) }  // RTA_PREFSRC
        return message
    }

    private func gateway(of route: Route) -> IPAddress {
        let bytes: [UInt8] =
            route.family == .ipv4 ? [192, 0, 2] : [0x20, 1, 0xD, 0xB8] + .init(repeating: 0, count: 11)
        return IPAddress(bytes: bytes + [UInt8(route.index)]) ?? IPAddress(ipv4: 0)
    }

    // MARK: Answers

    fileprivate func ask(_ request: [UInt8]) {
        if isRestless, dice.isOne(in: 25) { change() }
        let sequence = request.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self) }
        let isDump = request[7] & 0x3 != 0
        var messages: [NetlinkRequest] = []
        switch request[4] {
        case 18 where isDump:  // RTM_GETLINK
            messages = links.keys.sorted().map { message(about: $0, flags: 2) }
        case 18:
            let index = request.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 20, as: UInt32.self) }
            messages = [links[index] == nil ? refusal(ENODEV) : message(about: index)]
        case 22: messages = addresses.map { message(about: $0, flags: 2) }  // RTM_GETADDR
        case 26: messages = [route(for: request)]  // RTM_GETROUTE
        case 34: break  // RTM_GETRULE: there are none
        default: messages = [refusal(ENOENT)]
        }
        if isDump {
            var done = NetlinkRequest(3, flags: 2)  // NLMSG_DONE, NLM_F_MULTI
            done.append(Int32(0))
            messages.append(done)
        }
        answers = messages.flatMap { $0.numbered(sequence) }
    }

    private func route(for request: [UInt8]) -> NetlinkRequest {
        let family: IPAddress.Family = request[16] == UInt8(AF_INET) ? .ipv4 : .ipv6
        var bound: UInt32?
        request.withUnsafeBytes { bytes in
            let payload = bytes.bytes.extracting(NetlinkHeader.size..<bytes.count)
            NetlinkParser.forEachAttribute(in: payload, after: 12) { type, value in
                if type == 4 { bound = value.integer(at: 0, as: UInt32.self) }
            }
        }
        let candidates = routes.filter { $0.family == family && $0.index == bound ?? $0.index }
        let best = candidates.min { ($0.metric, $0.index) < ($1.metric, $1.index) }
        return best.map { message(about: $0) } ?? refusal(ENETUNREACH)
    }

    private func refusal(_ errno: CInt) -> NetlinkRequest {
        var message = NetlinkRequest(2)  // NLMSG_ERROR
        message.append(-errno)
        return message
    }

    // MARK: Sockets

    fileprivate func receiveEvent() -> (NetlinkReceived, [UInt8]) {
        if hasDropped {
            hasDropped = false
            return (dice.isOne(in: 2) ? .overrun : .truncated, [])
        }
        if dice.isOne(in: 10) { return (.foreign, message(about: 2, isGone: true).numbered(0)) }
        return untold.isEmpty ? (.empty, []) : (.datagram, untold.removeFirst())
    }

    fileprivate func receiveAnswer() -> (NetlinkReceived, [UInt8]) {
        defer { answers = [] }
        return answers.isEmpty ? (.empty, []) : (.datagram, answers)
    }

    private final class Side: NetlinkTransport {
        private let kernel: SimulatedKernel?
        private let isEvents: Bool
        private var datagram: [UInt8] = []

        init(of kernel: SimulatedKernel?, events: Bool) { (self.kernel, isEvents) = (kernel, events) }

        func send(_ message: [UInt8]) throws(NetlinkError) { kernel?.ask(message) }

        func receive() throws(NetlinkError) -> NetlinkReceived {
            guard let kernel else { return .empty }
            let received: NetlinkReceived
            (received, datagram) = isEvents ? kernel.receiveEvent() : kernel.receiveAnswer()
            return received
        }

        func withDatagram<Result>(_ body: (RawSpan) -> Result) -> Result { datagram.withUnsafeBytes { body($0.bytes) } }
    }
}
