// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkMonitor

/// The decision table, in its order.
@Suite(.timeLimit(.minutes(1)))
struct PathEvaluationTests {
    @Test func withoutALinkThatIsUpThereIsNoInterface() {
        let path = evaluate(table { $0.add(link(.down)) }, ipv4: [.none, .none], ipv6: [.none])
        #expect(path.unsatisfiedReason == .noInterface)
        #expect(path.scope == .none)
    }

    @Test func aLinkWithoutAnAddressHasNoAddress() {
        let path = evaluate(table { $0.add(link()) }, ipv4: [.none, .none], ipv6: [.none])
        #expect(path.unsatisfiedReason == .noAddress)
    }

    @Test func withoutARouteOnlyTheSiteIsReached() {
        let path = evaluate(table { $0.add(link(), "192.0.2.10") }, ipv4: [.none, .none], ipv6: [.none])
        #expect(path.unsatisfiedReason == .noRoute)
        #expect(path.scope == .site)
        #expect(path.ipv6.unsatisfiedReason == .noAddress)
    }

    @Test func aRouteThatRefusesIsBlocked() {
        let path = evaluate(table { $0.add(link(), "192.0.2.10") }, ipv4: [.blocked, .blocked], ipv6: [.none])
        #expect(path.unsatisfiedReason == .blocked)
    }

    @Test func routesThatStayOnTheHostDoNotCount() {
        let interfaces = table {
            $0.add(link(), "192.0.2.10")
            $0.update(LinkRecord(index: 1, name: "lo", flags: [.up, .running, .lowerUp, .loopback], hardwareType: 772))
        }
        for verdict in [RouteVerdict.local(route(through: 1)), .toMany, .unicast(route(through: 1))] {
            let path = evaluate(interfaces, ipv4: [verdict, verdict], ipv6: [.none])
            #expect(path.unsatisfiedReason == .noRoute)
        }
    }

    @Test func aRouteThroughALinkThatIsDownIsLinkDown() {
        let flags: [LinkRecord.Flags] = [[], [.up], [.up, .lowerUp], [.up, .running]]
        for flags in flags {
            let interfaces = table { $0.add(link(flags), "192.0.2.10") }
            let path = evaluate(interfaces, ipv4: unicast(), ipv6: [.none])
            #expect(path.unsatisfiedReason == .linkDown)
            #expect(path.ipv4.interface == "eth0")
            #expect(path.ipv4.gateway == IPAddress("192.0.2.1"))
        }
        let path = evaluate(table { _ in }, ipv4: unicast(), ipv6: [.none])
        #expect(path.unsatisfiedReason == .linkDown)  // the link has just gone
    }

    @Test(arguments: [LinkRecord.OperationalState.dormant, LinkRecord.OperationalState.testing])
    func aLinkThatIsNotReadyIsDormant(state: UInt8) {
        var dormant = link([.up, .lowerUp])
        dormant.operationalState = state
        let path = evaluate(table { $0.add(dormant, "192.0.2.10") }, ipv4: unicast(), ipv6: [.none])
        #expect(path.unsatisfiedReason == .linkDormant)
    }

    @Test func aSourceThatNobodyElseReachesIsNoAddress() {
        for source in [nil, "127.0.0.1", "0.0.0.0"] {
            let path = evaluate(table { $0.add(link()) }, ipv4: unicast(source: source), ipv6: [.none])
            #expect(path.unsatisfiedReason == .noAddress)
        }
        for source in [nil, "fe80::1", "::1", "::"] {
            let path = evaluate(table { $0.add(link(), "fe80::1") }, ipv4: [.none], ipv6: unicast6(source: source))
            #expect(path.unsatisfiedReason == .noAddress)
        }
    }

    @Test func anAddressThatIsStillBeingCheckedIsPending() {
        let pending = table { $0.add(link(), "2001:db8:1::10", flags: .tentative) }
        #expect(evaluate(pending, ipv4: [.none], ipv6: unicast6(source: nil)).unsatisfiedReason == .addressPending)
        let failed = table { $0.add(link(), "2001:db8:1::10", flags: [.tentative, .duplicate]) }
        #expect(evaluate(failed, ipv4: [.none], ipv6: unicast6(source: nil)).unsatisfiedReason == .noAddress)
        let linkLocal = table { $0.add(link(), "fe80::1", flags: .tentative) }
        #expect(evaluate(linkLocal, ipv4: [.none], ipv6: unicast6(source: nil)).unsatisfiedReason == .noAddress)
    }

    @Test func aDestinationOnTheLinkNeedsOnlyAnAddressOfTheLink() {
        func reason(_ flags: AddressRecord.Flags) -> UnsatisfiedReason? {
            let table = table { $0.add(link(), "fe80::1", flags: flags) }
            let verdicts: [IPAddress.Family: [RouteVerdict]] = [.ipv6: unicast6(source: nil)]
            return PathEvaluation(table: table, destination: IPAddress("fe80::2"), verdicts: verdicts).path
                .unsatisfiedReason
        }
        #expect(reason(.tentative) == .addressPending)
        #expect(reason([.tentative, .duplicate]) == .noAddress)
    }

    @Test func theKernelsErrorsTellNoRouteFromABlockedOne() {
        #expect(RouteVerdict(errno: 101) == .none)  // ENETUNREACH
        #expect(RouteVerdict(errno: 3) == .none)  // ESRCH
        #expect(RouteVerdict(errno: 97) == .none)  // EAFNOSUPPORT
        #expect(RouteVerdict(errno: 113) == .blocked)  // EHOSTUNREACH
        #expect(RouteVerdict(errno: 13) == .blocked)  // EACCES
        #expect(RouteVerdict(errno: 22) == .blocked)  // EINVAL
        #expect(RouteVerdict(errno: 12) == .unknown(12))  // ENOMEM
    }

    @Test func aTunnelWithAnAddressAndARouteIsSatisfied() {
        var tunnel = link()
        (tunnel.kind, tunnel.hardwareType) = ("wireguard", 0xFFFE)
        let path = evaluate(table { $0.add(tunnel, "10.8.0.2") }, ipv4: unicast(source: "10.8.0.2"), ipv6: [.none])
        #expect(path.isSatisfied)
        #expect(DeviceClass(tunnel).kind == .tunnel)
    }

    @Test func deprecatedAddressesStillWork() {
        let interfaces = table {
            $0.add(link(), "2001:db8:1::10", flags: .deprecated)
            $0.add(link(), "2001:db8:1::11")
        }
        let path = evaluate(interfaces, ipv4: [.none], ipv6: unicast6(source: "2001:db8:1::10"))
        #expect(path.isSatisfied)
        #expect(path.ipv6.isDegraded)
        #expect(!evaluate(interfaces, ipv4: [.none], ipv6: unicast6(source: "2001:db8:1::11")).ipv6.isDegraded)
    }

    @Test func aLinkWithAnAddressAndARouteIsSatisfied() {
        let path = evaluate(table { $0.add(link(), "192.0.2.10") }, ipv4: unicast(), ipv6: [.none])
        #expect(path.status == .satisfied)
        #expect(path.unsatisfiedReason == nil)
        #expect(path.scope == .global)
        #expect(path.ipv4.isAvailable)
        #expect(path.ipv4.table == 254)
        #expect(path.ipv6.unsatisfiedReason == .noAddress)
    }

    @Test func linkLocalIPv4AndUniqueLocalIPv6MayReachTheInternet() {
        let interfaces = table { $0.add(link(), "169.254.1.2") }
        #expect(evaluate(interfaces, ipv4: unicast(source: "169.254.1.2"), ipv6: [.none]).isSatisfied)
        #expect(evaluate(interfaces, ipv4: [.none], ipv6: unicast6(source: "fd00::1")).isSatisfied)
    }

    @Test func theKernelsChoiceOfUplinkCounts() {
        var second = link()
        (second.index, second.name) = (41, "eth1")
        let interfaces = table {
            $0.add(link([.up]), "192.0.2.10")
            $0.add(second, "198.51.100.10")
        }
        #expect(evaluate(interfaces, ipv4: unicast(), ipv6: [.none]).unsatisfiedReason == .linkDown)
        let other = RouteVerdict.unicast(route(through: 41, source: "198.51.100.10"))
        #expect(evaluate(interfaces, ipv4: [other, other], ipv6: [.none]).ipv4.interface == "eth1")
    }

    @Test func everyProbeMustBeReachable() {
        let interfaces = table { $0.add(link(), "192.0.2.10") }
        #expect(evaluate(interfaces, ipv4: unicast() + [.none], ipv6: [.none]).unsatisfiedReason == .noRoute)
        #expect(evaluate(interfaces, ipv4: [.blocked] + unicast(), ipv6: [.none]).unsatisfiedReason == .blocked)
    }

    @Test func theNearerReasonOfTheTwoFamiliesIsTold() {
        #expect(PathEvaluation.nearest(.noInterface, .linkDown) == .linkDown)
        #expect(PathEvaluation.nearest(.addressPending, .noRoute) == .addressPending)
        #expect(PathEvaluation.nearest(.unknown, .noInterface) == .noInterface)
        #expect(PathEvaluation.nearest(.unknown, nil) == .unknown)
        #expect(PathEvaluation.nearest(nil, nil) == .unknown)
    }

    private func evaluate(
        _ table: InterfaceTable, ipv4: [RouteVerdict], ipv6: [RouteVerdict]
    ) -> NetworkPath { PathEvaluation(table: table, verdicts: [.ipv4: ipv4, .ipv6: ipv6]).path }

    private func table(_ build: (inout InterfaceTable) -> Void) -> InterfaceTable {
        var table = InterfaceTable()
        build(&table)
        return table
    }

    private func unicast(source: String? = "192.0.2.10") -> [RouteVerdict] {
        let verdict = RouteVerdict.unicast(route(through: 40, source: source))
        return [verdict, verdict]
    }

    private func unicast6(source: String?) -> [RouteVerdict] {
        var route = route(through: 40, source: source)
        (route.family, route.gateway) = (.ipv6, IPAddress("fe80::ff"))
        return [.unicast(route)]
    }

    private func route(through index: UInt32, source: String? = "192.0.2.10") -> RouteRecord {
        RouteRecord(
            family: .ipv4, kind: .unicast, prefixLength: 0, table: 254, interfaceIndex: index,
            gateway: IPAddress("192.0.2.1"), source: source.flatMap(IPAddress.init))
    }

    private func link(_ flags: LinkRecord.Flags = [.up, .running, .lowerUp]) -> LinkRecord {
        LinkRecord(index: 40, name: "eth0", flags: flags, hardwareType: 1)
    }
}

extension LinkRecord.Flags {
    fileprivate static let down: Self = []
}

extension InterfaceTable {
    fileprivate mutating func add(_ link: LinkRecord, _ address: String? = nil, flags: AddressRecord.Flags = []) {
        update(link)
        guard let address = address.flatMap(IPAddress.init) else { return }
        update(AddressRecord(index: link.index, address: address, prefixLength: 24, flags: flags))
    }
}
