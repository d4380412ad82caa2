// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct NetlinkParserTests {
    @Test func aLinkIsReadWhole() throws {
        let payload = linkPayload {
            var info = Bytes()
            info.add(attribute: Wire.linkInfoKind, Array("veth".utf8) + [0])
            $0.add(attribute: Wire.linkInfo, info.bytes)
        }
        let (events, isWellFormed) = events(in: message(Wire.newLink, payload))
        #expect(isWellFormed)
        guard case .link(let link) = try #require(events.first) else { throw Unexpected() }
        #expect(link.index == 40)
        #expect(link.name == "eth0")
        #expect(link.kind == "veth")
        #expect(link.mtu == 1500)
        #expect(link.hardwareType == 1)
        #expect(link.isOperational)
    }

    @Test func severalMessagesInOneDatagramAreAllRead() {
        let datagram =
            message(Wire.newLink, linkPayload(index: 1)) + message(Wire.newAddress, addressPayload("192.0.2.10"))
            + message(Wire.deleteRoute, routePayload()) + message(Wire.newRule, [])
        #expect(events(in: datagram).events.count == 4)
    }

    @Test func aPortThatLeavesABridgeIsNotDeleted() {
        let payload = linkPayload(family: UInt8(AF_BRIDGE))
        #expect(events(in: message(Wire.deleteLink, payload)).events.isEmpty)
    }

    @Test func wirelessEventsThatChangeNothingAreIgnored() {
        let scan: (inout Bytes) -> Void = { $0.add(attribute: Wire.linkWireless, [UInt8](repeating: 0, count: 8)) }
        #expect(events(in: message(Wire.newLink, linkPayload(change: 0, scan))).events.isEmpty)
        #expect(events(in: message(Wire.newLink, linkPayload(change: 1, scan))).events.count == 1)
    }

    @Test func theLocalAddressIsOursAndTheOtherThePeers() throws {
        let payload = addressPayload("10.8.0.2") { $0.add(attribute: Wire.address, [10, 8, 0, 1]) }
        guard case .address(let address) = try #require(events(in: message(Wire.newAddress, payload)).events.first)
        else { throw Unexpected() }
        #expect(address.address == IPAddress("10.8.0.2"))
    }

    @Test func theLongFlagsOfAnAddressCount() throws {
        let payload = addressPayload("2001:db8::1", family: AF_INET6, flags: 0x40) {
            $0.add(attribute: Wire.addressFlags, UInt32(0x80))
        }
        guard case .address(let address) = try #require(events(in: message(Wire.newAddress, payload)).events.first)
        else { throw Unexpected() }
        #expect(address.isUsable)
        guard
            case .address(let tentative) = try #require(
                events(in: message(Wire.newAddress, addressPayload("2001:db8::1", family: AF_INET6, flags: 0x40)))
                    .events.first)
        else { throw Unexpected() }
        #expect(!tentative.isUsable)
        #expect(tentative.isPending)
    }

    @Test func aRouteIsReadWhole() throws {
        let payload = routePayload {
            $0.add(attribute: Wire.routeTable, UInt32(51820))
            $0.add(attribute: Wire.routeInterface, UInt32(40))
            $0.add(attribute: Wire.routeSource, [192, 0, 2, 10])
            $0.add(attribute: Wire.routeMetric, UInt32(100))
            $0.add(attribute: Wire.routeVia, [10, 0] + (IPAddress("fe80::1")?.bytes ?? []))
        }
        guard case .route(let route) = try #require(events(in: message(Wire.newRoute, payload)).events.first)
        else { throw Unexpected() }
        #expect(route.kind == .unicast)
        #expect(route.table == 51820)
        #expect(route.interfaceIndex == 40)
        #expect(route.source == IPAddress("192.0.2.10"))
        #expect(route.metric == 100)
        #expect(route.gateway == IPAddress("fe80::1"))
    }

    @Test(arguments: [
        (0, "0.0.0.0", true), (1, "0.0.0.0", true), (1, "128.0.0.0", false), (8, "45.0.0.0", true),
        (8, "10.0.0.0", false),
        (31, "45.0.0.0", true), (32, "45.0.0.0", false), (32, "45.0.0.1", true), (255, "45.0.0.1", true),
    ])
    func aRouteMattersWhereItsPrefixHoldsTheProbe(length: UInt8, destination: String, expected: Bool) throws {
        let route = RouteRecord(
            family: .ipv4, kind: .unicast, destination: IPAddress(destination), prefixLength: length, table: 254)
        #expect(route.covers(try #require(IPAddress("45.0.0.1"))) == expected)
    }

    @Test(arguments: [(0, nil), (150, .milliseconds(1500)), (-5, .zero)] as [(Int32, Duration?)])
    func theLifetimeOfARouteIsRead(hundredths: Int32, expected: Duration?) {
        let payload = routePayload {
            var info = Bytes(bytes: [UInt8](repeating: 0, count: 8))
            info.add(hundredths)
            $0.add(attribute: Wire.routeCacheInfo, info.bytes)
        }
        payload.withUnsafeBytes { #expect(RouteRecord($0.bytes)?.lifetime == expected) }
    }

    @Test func addressesOfTheWrongLengthAreNone() {
        let payload = routePayload { $0.add(attribute: Wire.routeGateway, [1, 2, 3]) }
        payload.withUnsafeBytes { #expect(RouteRecord($0.bytes)?.gateway == nil) }
    }

    @Test func unknownFamiliesAndTypesAreIgnored() {
        #expect(events(in: message(Wire.newAddress, addressPayload("192.0.2.1", family: 99))).events.isEmpty)
        #expect(events(in: message(Wire.newRoute, routePayload(family: 28))).events.isEmpty)
        #expect(events(in: message(9999, [1, 2, 3, 4])).events.isEmpty)
        #expect(events(in: message(Wire.newLink, [])).events.isEmpty)
    }

    @Test func aMessageLongerThanItsDatagramIsNotRead() {
        var bytes = message(Wire.newLink, linkPayload())
        bytes[0] = 255
        let (events, isWellFormed) = events(in: bytes)
        #expect(events.isEmpty)
        #expect(!isWellFormed)
    }

    @Test func aMessageOfLengthZeroEndsTheReading() {
        let (events, isWellFormed) = events(in: [UInt8](repeating: 0, count: 64))
        #expect(events.isEmpty)
        #expect(!isWellFormed)
    }

    @Test func anAttributeOfLengthZeroEndsTheReading() {
        let payload = linkPayload { $0.bytes += [0, 0, 0, 0, 0, 0, 0, 0] }
        payload.withUnsafeBytes {
            let isWellFormed = NetlinkParser.forEachAttribute(in: $0.bytes, after: LinkRecord.headerSize) { _, _ in }
            #expect(!isWellFormed)
            #expect(LinkRecord($0.bytes)?.name == "eth0")
        }
    }

    @Test func everyTruncationIsSurvived() {
        let whole = message(Wire.newLink, linkPayload()) + message(Wire.newAddress, addressPayload("192.0.2.1"))
        for length in 0..<whole.count {
            let (events, isWellFormed) = events(in: Array(whole.prefix(length)))
            #expect(events.count <= 1)
            #expect(!isWellFormed || length == 0 || events.count == 1)
        }
    }

    /// Damages good messages at random places, a hundred thousand times; whatever comes out, nothing may trap.
    @Test(arguments: [UInt64(1), 2, 3, 4])
    func damagedBytesAreSurvived(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let good: [[UInt8]] = [
            message(Wire.newLink, linkPayload()), message(Wire.newAddress, addressPayload("192.0.2.1")),
            message(Wire.newRoute, routePayload { $0.add(attribute: Wire.routeVia, [2, 0, 1, 2, 3, 4]) }),
        ]
        var understood = 0
        for round in 0..<25_000 {
            var bytes = good[round % good.count] + good[(round / 3) % good.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random) / 4)
            understood += events(in: bytes).events.count
        }
        #expect(understood > 0)
    }

    @Test(arguments: [UInt64(5), 6])
    func randomBytesAreSurvived(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<25_000 {
            let bytes = (0..<Int.random(in: 0..<96, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            bytes.withUnsafeBytes {
                #expect(LinkRecord($0.bytes).map { $0.index != 0 } ?? true)
                #expect(AddressRecord($0.bytes).map { $0.index != 0 } ?? true)
                let isRead = RouteRecord($0.bytes) != nil
                #expect(!isRead || bytes.count >= RouteRecord.headerSize)
            }
        }
    }
}

struct Unexpected: Error {}
