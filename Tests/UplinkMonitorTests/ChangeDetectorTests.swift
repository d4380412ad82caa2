// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct ChangeDetectorTests {
    private let own = IPAddress("192.0.2.10"), other = IPAddress("192.0.2.11")

    private var online: NetworkPath {
        var path = NetworkPath(status: .satisfied, scope: .global)
        path.ipv4 = FamilyPath(interface: "eth0", interfaceIndex: 40, gateway: IPAddress("192.0.2.1"), source: own)
        return path
    }

    private func addresses(_ all: IPAddress?...) -> Set<IPAddress> { Set(all.compactMap { $0 }) }

    private func changes(_ looks: [(Set<IPAddress>, NetworkPath)]) -> [NetworkChange?] {
        var detector = ChangeDetector()
        return looks.map { detector.look(addresses: $0.0, path: $0.1, stranded: { _ in [] }) }
    }

    @Test func theFirstLookAndTheSameAgainAreNoChange() {
        #expect(changes([(addresses(own), online), (addresses(own), online)]) == [nil, nil])
    }

    @Test func anAddressThatIsGoneIsNamedAndOneThatComesIsNot() {
        let changes = changes([(addresses(own), online), (addresses(own, other), online), (addresses(other), online)])
        #expect(changes == [nil, nil, NetworkChange(removedAddresses: addresses(own))])
    }

    @Test func aWayThatIsGoneOrAnotherOneIsNamed() {
        var elsewhere = online
        elsewhere.ipv4.gateway = IPAddress("192.0.2.2")
        let routes = NetworkChange(changedDefaultRoutes: [.ipv4])
        let changes = changes([
            ([], online), ([], elsewhere), ([], NetworkPath()), ([], NetworkPath()), ([], online),
        ])
        #expect(changes == [nil, routes, routes, nil, nil])  // a way that comes breaks nothing
    }

    @Test func whatBreaksNoConnectionIsNoChange() {
        var path = online
        path.ipv4.table = 51820
        path.ipv4.interface = "wan0"  // a new name for the same link
        path.ipv4.validation = .probing
        path.isExpensive = true
        path.generation = 9
        #expect(changes([([], online), ([], path)]) == [nil, nil])
    }

    @Test func afterAPauseThereIsNothingToCompareWith() {
        var detector = ChangeDetector()
        _ = detector.look(addresses: addresses(own), path: online, stranded: { _ in [] })
        detector.forget()
        #expect(detector.look(addresses: [], path: NetworkPath(), stranded: { _ in addresses(own) }) == nil)
    }

    /// When the route has moved to another link, immediately or after a while without any, and not while it may still
    /// come back.
    @Test(arguments: [true, false]) func theAddressesOfALinkThatIsDownAreLeftBehind(_ isImmediate: Bool) {
        var elsewhere = online
        (elsewhere.ipv4.interfaceIndex, elsewhere.ipv4.source) = (41, other)
        let all = addresses(own, other).union(addresses(IPAddress("2001:db8::1")))
        let routes = NetworkChange(changedDefaultRoutes: [.ipv4])
        var detector = ChangeDetector()
        func look(_ path: NetworkPath, isDown: Bool) -> NetworkChange? {
            detector.look(addresses: all, path: path) { $0 == 40 && isDown ? all.subtracting(addresses(other)) : [] }
        }
        var seen = [look(online, isDown: false), look(elsewhere, isDown: false), look(online, isDown: false)]
        #expect(seen == [nil, routes, routes])
        seen = [look(NetworkPath(), isDown: true), look(online, isDown: false)]
        #expect(seen == [routes, nil])
        if !isImmediate { #expect(look(NetworkPath(), isDown: true) == routes) }
        let left = NetworkChange(removedAddresses: addresses(own), changedDefaultRoutes: isImmediate ? [.ipv4] : [])
        #expect(look(elsewhere, isDown: true) == left)
        #expect(look(elsewhere, isDown: true) == nil)
    }
}
