// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@Suite(.timeLimit(.minutes(1)))
struct NetworkPathDescriptionTests {
    private var tunnelled: NetworkPath {
        let carrier = NetworkInterface.Underlying(path: FamilyPath(interface: "eth0", interfaceIndex: 2))
        return NetworkPath(
            status: .satisfied, scope: .global,
            ipv4: FamilyPath(
                interface: "tun0", interfaceIndex: 7, gateway: IPAddress("10.8.0.1"), source: IPAddress("10.8.0.2")),
            interfaces: [NetworkInterface(name: "tun0", index: 7, kind: .tunnel, underlying: carrier)])
    }

    @Test func theWayOutIsOneLine() {
        var path = tunnelled
        #expect(path.description == "satisfied: tun0 (tunnel over eth0), IPv4 10.8.0.2 via 10.8.0.1")
        path.interfaces[0].underlying = nil
        path.ipv4.isDegraded = true
        path.ipv4.validation = .captivePortal(url: nil)
        (path.isExpensive, path.isConstrained, path.isAuthoritative) = (true, true, false)
        #expect(
            path.description == "satisfied: tun0 (tunnel), IPv4 10.8.0.2 via 10.8.0.1 (deprecated) (captive portal), "
                + "expensive, constrained, not authoritative")
    }

    @Test func whatIsMissingIsSaid() {
        var path = NetworkPath(unsatisfiedReason: .linkDown, scope: .site)
        #expect(path.description == "unsatisfied: the link is down")
        path.alternatives = [NetworkInterface(name: "eth1", index: 41, kind: .ethernet)]
        #expect(path.description == "unsatisfied: the link is down, would work when bound: eth1")
        #expect(NetworkPath(status: .requiresConnection).description == "requiresConnection")
    }

    @Test func aFamilyThatNobodyAskedAboutHasNoReason() {
        #expect(!FamilyPath.notAsked.isAvailable)
        #expect(FamilyPath.notAsked.unsatisfiedReason == nil)
        #expect(FamilyPath.unavailable(.noRoute).unsatisfiedReason == .noRoute)
    }

    @Test func familiesAreReachedByTheirName() {
        var path = tunnelled
        #expect(path[.ipv4] == path.ipv4)
        path[.ipv6].validation = .probing
        #expect(path.ipv6.validation == .probing)
    }
}
