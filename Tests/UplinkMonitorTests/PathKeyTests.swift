// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkMonitor

/// Which changes are told, field by field.
@Suite(.timeLimit(.minutes(1)))
struct PathKeyTests {
    private typealias Change = (inout NetworkPath) -> Void

    @Test func whatAProgramMaySeeOfItsConnectionsIsTold() {
        let changes: [Change] = [
            { $0.status = .unsatisfied }, { $0.unsatisfiedReason = .noRoute }, { $0.scope = .site },
            { $0.ipv4.isAvailable = false }, { $0.ipv4.interface = "wan0" }, { $0.ipv4.interfaceIndex = 41 },
            { $0.ipv4.gateway = nil }, { $0.ipv4.source = IPAddress("192.0.2.11") },
            { $0.isExpensive = true }, { $0.isConstrained = true }, { $0.isAuthoritative = false },
            { $0.ipv6 = FamilyPath(interface: "tun0", interfaceIndex: 40) },
        ]
        expect(changes, areTold: true)
    }

    @Test func nameServersAreTold() throws {
        let address = try #require(IPAddress("192.0.2.53"))
        var before = path
        before.dns.resolvers = [.init(address: address)]
        #expect(PathKey(before) != PathKey(path))
        var after = before
        after.dns.resolvers[0].hasRoute = true
        #expect(PathKey(before) != PathKey(after))
    }

    @Test func validationIsToldButNotWhenItWas() {
        let now = ContinuousClock.now
        expect(
            [
                { $0.ipv4.validation = .probing }, { $0.ipv4.validation = .validated(at: now) },
                { $0.ipv4.validation = .captivePortal(url: nil) }, { $0.ipv4.validation = .failed("timeout") },
            ], areTold: true)
        var (early, late) = (path, path)
        early.ipv4.validation = .validated(at: now)
        late.ipv4.validation = .validated(at: now + .seconds(60))
        #expect(PathKey(early) == PathKey(late))
        (early.ipv4.validation, late.ipv4.validation) = (.captivePortal(url: nil), .captivePortal(url: "http://a/"))
        #expect(PathKey(early) != PathKey(late))
        (early.ipv4.validation, late.ipv4.validation) = (.failed("timeout"), .failed("refused"))
        #expect(PathKey(early) == PathKey(late))
    }

    @Test func aSleepOfTheSystemIsTold() { expect([{ $0.lastResume = .now }], areTold: true) }

    @Test func whatCarriesATunnelIsTold() {
        expect(
            [
                { $0.interfaces[0].underlying = nil },
                { $0.interfaces[0].underlying?.path.interface = "wlan0" },
                { $0.interfaces[0].underlying?.path.isAvailable = false },
                { $0.interfaces[0].underlying?.path.source = IPAddress("198.51.100.1") },
            ], areTold: true)
    }

    @Test func theRestIsNotTold() {
        let other = NetworkInterface(name: "eth1", index: 50, kind: .ethernet)
        expect(
            [
                { $0.interfaces[0].mtu = 9000 }, { $0.interfaces[0].addresses = [] }, { $0.interfaces.append(other) },
                { $0.alternatives = [other] }, { $0.generation = 9 }, { $0.networkID = 1 },
                { $0.ipv4.gatewayState = .failed }, { $0.ipv4.table = 51820 }, { $0.ipv4.isDegraded = true },
                { $0.ipv6.unsatisfiedReason = .addressPending }, { $0.ipv6.interface = "eth0" },
            ], areTold: false)
    }

    private func expect(_ changes: [Change], areTold expected: Bool) {
        for (number, change) in changes.enumerated() {
            var other = path
            change(&other)
            #expect(other != path, "change \(number) is none")
            #expect((PathKey(other) != PathKey(path)) == expected, "change \(number)")
        }
    }

    private var path: NetworkPath {
        var path = NetworkPath(status: .satisfied, scope: .global)
        path.ipv4 = FamilyPath(
            interface: "tun0", interfaceIndex: 40, gateway: IPAddress("192.0.2.1"), source: IPAddress("192.0.2.10"))
        let carrier = FamilyPath(interface: "eth0", interfaceIndex: 2)
        path.interfaces = [
            NetworkInterface(
                name: "tun0", index: 40, kind: .tunnel, addresses: [IPAddress("192.0.2.10")].compactMap { $0 },
                underlying: .init(kind: .ethernet, path: carrier))
        ]
        return path
    }
}
