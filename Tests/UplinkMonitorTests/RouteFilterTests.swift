// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore

@testable import UplinkMonitor

/// The filter in a real kernel, on a socket that has nothing to do with netlink: the program looks at bytes alone.
@Suite(.timeLimit(.minutes(1)))
struct RouteFilterTests {
    private let addresses = ["45.0.0.1", "131.0.0.1", "2600::1", "2001:db8:1:2:3:4:5:6"].compactMap(IPAddress.init)

    @Test(arguments: [
        ("0.0.0.0", 0, true), ("0.0.0.0", 1, true), ("128.0.0.0", 1, true), ("40.0.0.0", 5, true),
        ("45.0.0.0", 8, true), ("45.0.0.1", 32, true), ("44.0.0.0", 7, true), ("10.0.0.0", 8, false),
        ("45.0.0.0", 32, false), ("45.0.0.2", 31, false), ("192.0.2.0", 24, false), ("64.0.0.0", 2, false),
        ("::", 0, true), ("2000::", 3, true), ("2600::", 16, true), ("2600::", 64, true), ("2600::1", 128, true),
        ("2001:db8:1::", 48, true), ("2001:db8:1:2::", 64, true), ("2001:db8:1:2:3::", 65, true),
        ("2001:db8:1:2:3:4:5:6", 128, true), ("2001:db8:1:2:3:4:5:0", 127, false), ("2001:db8:1:2:3:4::", 96, true),
        ("2001:db8::", 33, true), ("2001:db8::", 32, true), ("2001:db8:8000::", 33, false), ("fe80::", 64, false),
        ("2001:db8:1:3::", 64, false), ("2001:db8:1:2:8000::", 65, false), ("2600::2", 128, false),
        ("ff00::", 8, false),
    ])
    func aRoutePassesIfItLeadsToAnAddressThatMatters(prefix: String, length: UInt8, expected: Bool) throws {
        let socket = try FilteredSocket(RouteFilter(addresses))
        let destination = try #require(IPAddress(prefix))
        for type in [Wire.newRoute, Wire.deleteRoute] {
            #expect(socket.passes(routeMessage(type, destination, length)) == expected)
        }
        let route = RouteRecord(
            family: destination.family, kind: .unicast, destination: destination, prefixLength: length, table: 254)
        #expect(addresses.contains(where: route.covers) == expected)
    }

    /// The filter and the check behind it agree on whatever prefix there is.
    @Test func theKernelAndTheCheckBehindItAgree() throws {
        var random = SeededGenerator(seed: 11)
        let socket = try FilteredSocket(RouteFilter(addresses))
        var passed = 0
        for round in 0..<4000 {
            let address = addresses[round % addresses.count]
            let bits = address.bytes.count * 8
            let length = Int.random(in: 0...bits, using: &random)
            var bytes = address.bytes
            let flipped = Int.random(in: 0..<bits, using: &random)
            bytes[flipped / 8] ^= 0x80 >> UInt8(flipped % 8)
            let destination = try #require(IPAddress(bytes: bytes)).network(ofLength: length)
            let route = RouteRecord(
                family: destination.family, kind: .unicast, destination: destination, prefixLength: UInt8(length),
                table: 254)
            let expected = addresses.contains(where: route.covers)
            #expect(socket.passes(routeMessage(Wire.newRoute, destination, UInt8(length))) == expected)
            if expected { passed += 1 }
        }
        #expect(passed > 1000 && passed < 3900)
    }

    @Test(arguments: [Wire.newNeighbour, Wire.deleteNeighbour])
    func aNeighbourPassesIfItIsARouterThatFallsSilentOrIsSilent(type: Int) throws {
        let routers = ["192.0.2.1", "192.0.2.9", "fe80::1", "2001:db8::9"].compactMap(IPAddress.init)
        let filter = RouteFilter(addresses, routers: routers, silent: [routers[1], routers[3]])
        let socket = try FilteredSocket(filter)
        for state in [Wire.reachable, Wire.stale, Wire.failed] {
            for (address, isRouter, isSilent) in [
                ("192.0.2.1", true, false), ("192.0.2.9", true, true), ("192.0.2.2", false, false),
                ("fe80::1", true, false), ("2001:db8::9", true, true), ("fe80::2", false, false),
            ] {
                let expected = isSilent || (isRouter && state == Wire.failed)
                #expect(socket.passes(message(type, neighbourPayload(address, state: state))) == expected)
                let advertised = neighbourPayload(address, state: state, isRouter: true)
                #expect(socket.passes(message(type, advertised)) == (expected || !isRouter))
                let later = neighbourPayload(address, state: state) { $0.add(attribute: 8, UInt32(3)) }
                #expect(socket.passes(message(type, later)) == expected)  // the address behind another attribute
            }
        }
        let ofABridge = neighbourPayload("192.0.2.1", family: 7, state: Wire.failed)
        #expect(!socket.passes(message(type, ofABridge)))
        let deaf = try FilteredSocket(RouteFilter(addresses))
        #expect(!deaf.passes(message(type, neighbourPayload("192.0.2.1", state: Wire.failed))))
        #expect(deaf.passes(message(type, neighbourPayload("fe80::1", state: Wire.reachable, isRouter: true))))
    }

    @Test func everythingElsePasses() throws {
        let socket = try FilteredSocket(RouteFilter(addresses))
        #expect(socket.passes(message(Wire.newLink, linkPayload())))
        #expect(socket.passes(message(Wire.newAddress, addressPayload("10.0.0.1"))))
        #expect(socket.passes(message(Wire.newRule, routePayload(prefixLength: 32))))
        #expect(socket.passes(message(104, [2, 0, 0, 0])))  // RTM_NEWNEXTHOP
        #expect(socket.passes(message(Wire.newRoute, routePayload(family: 28, prefixLength: 20))))  // MPLS
    }

    @Test func whatTheParserShouldSeePasses() throws {
        let socket = try FilteredSocket(RouteFilter(addresses))
        #expect(socket.passes(message(Wire.newRoute, routePayload(prefixLength: 24))))  // no destination
        #expect(socket.passes(message(Wire.newRoute, routePayload(prefixLength: 33))))
        #expect(socket.passes(message(Wire.newRoute, routePayload(family: AF_INET6, prefixLength: 129))))
    }

    @Test func theDestinationIsFoundWhereverItStands() throws {
        let socket = try FilteredSocket(RouteFilter(addresses))
        for destination in ["45.0.0.0", "46.0.0.0"] {
            let payload = routePayload(prefixLength: 8) {
                $0.add(attribute: Wire.routeTable, UInt32(254))
                $0.add(attribute: Wire.routeGateway, [45, 0, 0, 1])
                $0.add(attribute: Wire.routeDestination, IPAddress(destination)?.bytes ?? [])
            }
            #expect(socket.passes(message(Wire.newRoute, payload)) == (destination == "45.0.0.0"))
        }
    }

    @Test func withoutAddressesOnlyDefaultRoutesPass() throws {
        let socket = try FilteredSocket(RouteFilter([]))
        let any = try #require(IPAddress("0.0.0.0"))
        #expect(socket.passes(routeMessage(Wire.newRoute, any, 0)))
        #expect(!socket.passes(routeMessage(Wire.newRoute, any, 1)))
    }

    @Test func asManyAddressesAsThereCanBeFit() throws {
        let many = (0..<32).flatMap { number in
            [IPAddress(ipv4: 0x2D00_0000 + number), IPAddress(ipv6: 0x2600 << 48, UInt64(number))]
        }
        let socket = try FilteredSocket(RouteFilter(many))
        for address in many {
            let length = UInt8(address.bytes.count * 8)
            #expect(socket.passes(routeMessage(Wire.newRoute, address, length)))
        }
        #expect(!socket.passes(routeMessage(Wire.newRoute, IPAddress(ipv4: 0x2D00_0020), 32)))
        #expect(!socket.passes(routeMessage(Wire.newRoute, IPAddress(ipv6: 0x2600 << 48, 32), 128)))
    }

    @Test func aFilterThatIsTooLargeLeavesNoneBehind() throws {
        let socket = try FilteredSocket(RouteFilter([]))
        let route = routeMessage(Wire.newRoute, addresses[0], 32)
        #expect(!socket.passes(route))
        let tooMany = (0..<1000).map { IPAddress(ipv6: 0x2600 << 48, $0) }
        #expect(!RouteFilter(tooMany).attach(to: socket.receiver))
        #expect(socket.passes(route))
    }

    private func routeMessage(_ type: Int, _ destination: IPAddress, _ length: UInt8) -> [UInt8] {
        let family = destination.family == .ipv4 ? AF_INET : AF_INET6
        return message(
            type,
            routePayload(family: family, prefixLength: length) {
                $0.add(attribute: Wire.routeTable, UInt32(254))
                if length > 0 { $0.add(attribute: Wire.routeDestination, destination.bytes) }
            })
    }
}

/// Two sockets of which one has a filter.
private final class FilteredSocket {
    private let sender: CInt
    let receiver: CInt

    init(_ filter: RouteFilter) throws {
        var descriptors: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0, &descriptors) == 0 else { throw Unexpected() }
        (sender, receiver) = (descriptors[0], descriptors[1])
        guard filter.attach(to: receiver) else { throw Unexpected() }
    }

    deinit {
        close(sender)
        close(receiver)
    }

    func passes(_ message: [UInt8]) -> Bool {
        // A filter that drops makes the call fail with EPERM on this kind of socket, or lets it seem to succeed.
        _ = send(sender, message, message.count, CInt(MSG_DONTWAIT))
        var buffer = [UInt8](repeating: 0, count: 512)
        return recv(receiver, &buffer, buffer.count, CInt(MSG_DONTWAIT)) == message.count
    }
}
