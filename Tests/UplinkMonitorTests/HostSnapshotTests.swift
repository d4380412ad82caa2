// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing
import UplinkCore

@testable import UplinkMonitor

/// The decision table without netlink, and what is said in doubt.
@Suite(.timeLimit(.minutes(1)))
struct HostSnapshotTests {
    private let probes = LinuxNetworkMonitor.Configuration().ipv4Probes + LinuxNetworkMonitor.Configuration().ipv6Probes
    private let own = IPAddress("192.0.2.10")
    private let running: UInt32 = 0x1043, down: UInt32 = 0x1003

    /// A host with one address and a default route; the kernel answers questions.
    private func online(flags: UInt32? = nil) throws -> HostSnapshot {
        let own = try #require(own), none = try #require(IPAddress("0.0.0.0"))
        return HostSnapshot(
            links: [
                .init(index: 1, name: "lo", flags: 0x49, hardwareType: 772, mtu: 65536),
                .init(index: 40, name: "eth0", flags: flags ?? running, hardwareType: 1, mtu: 1500),
            ],
            ipv4Addresses: [("eth0:1", own)], ipv6Addresses: [],
            ipv4Routes: [
                .init(
                    destination: none, prefixLength: 0, gateway: IPAddress("192.0.2.1"), metric: 100, interface: "eth0")
            ],
            ipv6Routes: [], verdicts: [.source(own), .source(own), .refused(ENETUNREACH)])
    }

    @Test func aWayIsDescribedAsNetlinkWould() throws {
        let path = try online().path(probes: probes)
        #expect(path.isSatisfied && !path.isAuthoritative && path.scope == .global)
        #expect(path.ipv4.gateway == IPAddress("192.0.2.1"))
        #expect(path.ipv4.source == own && path.ipv4.table == nil)
        #expect(path.ipv6.unsatisfiedReason == .noAddress)
        #expect(path.primaryInterface?.name == "eth0")
        #expect(path.primaryInterface?.kind == .ethernet)
    }

    @Test func aWayOverADeadLinkIsNone() throws {
        let path = try online(flags: down).path(probes: probes)
        #expect(path.unsatisfiedReason == .linkDown)
    }

    /// `default from 2001:db8:9::/64 via fe80::9 metric 1`, and the default for all.
    @Test(arguments: [("2001:db8:9::10", "fe80::9"), ("2001:db8:1::10", "fe80::1")])
    func aRouteForASourceIsForThatAlone(source: String, gateway: String) throws {
        let zero = String(repeating: "0", count: 32)
        let table = """
            \(zero) 00 20010db8000900000000000000000000 40 fe800000000000000000000000000009 00000001 1 0 00000003 eth0
            \(zero) 00 \(zero) 00 fe800000000000000000000000000001 00000400 1 0 00000003 eth0
            """
        var host = try online()
        let own = try #require(IPAddress(source))
        host.ipv6Addresses = [AddressRecord(index: 40, address: own, prefixLength: 64, flags: [])]
        host.ipv6Routes = HostTables.ipv6Routes(table)
        host.verdicts[2] = .source(own)
        #expect(host.path(probes: probes).ipv6.gateway == IPAddress(gateway))
        host.verdicts[2] = .unknown  // nobody knows the source
        #expect(host.path(probes: probes).ipv6.gateway == IPAddress("fe80::1"))
    }

    @Test func whatTheKernelRefusesIsAway() throws {
        var host = try online()
        for (errno, reason) in [(ENETUNREACH, UnsatisfiedReason.noRoute), (EACCES, .blocked), (EHOSTUNREACH, .blocked)]
        {
            host.verdicts = [.refused(errno), .refused(errno), .refused(ENETUNREACH)]
            #expect(host.path(probes: probes).unsatisfiedReason == reason)
        }
        host.links = []
        host.verdicts = Array(repeating: .refused(ENETUNREACH), count: 3)
        #expect(host.path(probes: probes).unsatisfiedReason == .noInterface)
    }

    @Test func halfOfTheInternetIsNotTheInternet() throws {
        var host = try online()
        host.verdicts[1] = .refused(ENETUNREACH)
        #expect(host.path(probes: probes).unsatisfiedReason == .noRoute)
    }

    @Test func theSourceTellsTheInterfaceWhereAnotherTableDecided() throws {
        var host = try online()
        let inner = try #require(IPAddress("10.8.0.2"))
        host.links.append(.init(index: 50, name: "wg0", flags: 0x10D1, hardwareType: 0xFFFE, mtu: 1420))
        host.ipv4Addresses?.append(("wg0", inner))
        host.verdicts = [.source(inner), .source(inner), .refused(ENETUNREACH)]
        let path = host.path(probes: probes)
        #expect(path.primaryInterface?.name == "wg0")
        #expect(path.primaryInterface?.kind == .tunnel)
        #expect(path.ipv4.gateway == nil)
    }

    private let other = IPAddress("10.255.0.1")

    /// A host whose kernel sends from the address of another link than the default route's.
    private func sendingFromOther(flags: UInt32) throws -> HostSnapshot {
        let source = try #require(other)
        var host = try online()
        host.links.append(.init(index: 50, name: "other", flags: flags, hardwareType: 1, mtu: 1500))
        host.ipv4Addresses?.append(("other", source))
        host.verdicts = [.source(source), .source(source), .refused(ENETUNREACH)]
        return host
    }

    /// The kernel goes on sending into a link whose cable is pulled.
    @Test func anAddressOfALinkWithoutACarrierShowsTheWay() throws {
        let host = try sendingFromOther(flags: 0x1003)
        #expect(host.path(probes: probes).unsatisfiedReason == .linkDown)
    }

    /// As on hosts that speak BGP: the default route has a source of the loopback's.
    @Test(arguments: [0x49, 0x1002] as [UInt32]) func anAddressOfAnInterfaceThatCarriesNothingMayBeTheSource(
        flags: UInt32
    ) throws {
        var host = try sendingFromOther(flags: flags)
        let path = host.path(probes: probes)
        #expect(path.isSatisfied && path.primaryInterface?.name == "eth0")
        #expect(path.ipv4.source == other)
        #expect(path.ipv4.gateway == IPAddress("192.0.2.1"))
        host.links[1].flags = down
        #expect(host.path(probes: probes).unsatisfiedReason == .linkDown)
    }

    @Test(arguments: [0x1043, 0x1003, 0x1002] as [UInt32]) func anAddressOfThisHostIsReachedThroughTheLoopback(
        flags: UInt32
    ) throws {
        let own = try #require(own)
        var host = try online(flags: flags)
        host.verdicts = [.source(own)]
        let path = host.path(probes: [own], destination: own)
        #expect(path.isSatisfied && path.ipv4.interface == "lo" && path.scope == .host, "\(path)")
    }

    @Test func theRouteToItsNetworkTellsWhoIsANeighbour() throws {
        let network = try #require(IPAddress("192.0.2.0")), neighbour = try #require(IPAddress("192.0.2.77"))
        var host = try online()
        host.ipv4Routes?.append(.init(destination: network, prefixLength: 24, metric: 0, interface: "eth0"))
        host.verdicts = [.source(own)]
        #expect(host.path(probes: [neighbour], destination: neighbour).scope == .site)
        let remote = try #require(IPAddress("192.0.3.1"))
        #expect(host.path(probes: [remote], destination: remote).scope == .global)
    }

    @Test(
        arguments: [("169.254.0.1", .link), ("10.0.0.1", .site), ("45.0.0.1", .global)] as [(String, NetworkPath.Scope)]
    )
    func whatIsInDoubtIsAsFarAsTheDestination(text: String, scope: NetworkPath.Scope) throws {
        let destination = try #require(IPAddress(text))
        let host = HostSnapshot(verdicts: [.unknown])
        let path = host.path(probes: [destination], destination: destination)
        #expect(path.isSatisfied && path.scope == scope)
    }

    @Test func theTableOfRoutesDecidesWhereTheKernelCannotBeAsked() throws {
        var host = try online()
        host.verdicts = Array(repeating: .unknown, count: 3)
        let path = host.path(probes: probes)
        #expect(path.isSatisfied && path.ipv4.source == own)
        host.ipv4Routes = []
        #expect(host.path(probes: probes).unsatisfiedReason == .noRoute)
    }

    @Test func whatTheProgramKnowsOfAnInterfaceCounts() throws {
        let hints = InterfaceHints(isMetered: true, isConstrained: true)
        let path = try online().path(probes: probes) { $0.name == "eth0" ? hints : InterfaceHints() }
        #expect(path.isExpensive && path.isConstrained && path.primaryInterface?.isMetered == true)
        let other = try online().path(probes: probes) { _ in InterfaceHints(isMetered: false) }
        #expect(!other.isExpensive && !other.isConstrained)
    }

    @Test func inDoubtTheNetworkIsThere() {
        let host = HostSnapshot(verdicts: Array(repeating: .unknown, count: 3))  // nothing could be read
        let path = host.path(probes: probes)
        #expect(path.isSatisfied && !path.isAuthoritative)
        #expect(path.unsatisfiedReason == nil)
        #expect(path.ipv4.isAvailable && path.ipv4.unsatisfiedReason == nil)
    }
}
