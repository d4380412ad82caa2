// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing
import UplinkCore

@testable import UplinkMonitor

/// Routers that fall silent, and what the kernel makes of it.
@Suite(.timeLimit(.minutes(1)))
struct NextHopsTests {
    @Test func aRouterThatFallsSilentMattersAndSoDoesItsReturn() throws {
        let router = try neighbour("192.0.2.1")
        var hops = NextHops()
        #expect(hops.take(NeighbourRecord(neighbour: router, isSilent: true)) == false)  // nobody's router
        #expect(hops.watch([router]) == true)
        #expect(hops.watch([router]) == false)
        #expect(hops.take(NeighbourRecord(neighbour: router, isSilent: false)) == false)
        #expect(hops.take(NeighbourRecord(neighbour: router, isSilent: true)) == true)
        #expect(hops.silent == [router])
        #expect(hops.take(NeighbourRecord(neighbour: router, isSilent: true)) == true)
        #expect(hops.take(NeighbourRecord(neighbour: router, isSilent: false)) == true)
        #expect(hops.take(NeighbourRecord(neighbour: router, isSilent: false)) == false)
    }

    @Test func aRouterThatIsNotKnownMattersOnce() throws {
        let (answering, failed) = (try neighbour("fe80::1"), try neighbour("fe80::2"))
        var hops = NextHops()
        #expect(hops.take(NeighbourRecord(neighbour: answering, isSilent: false, isRouter: true)) == true)
        #expect(hops.take(NeighbourRecord(neighbour: answering, isSilent: false, isRouter: true)) == false)
        #expect(hops.take(NeighbourRecord(neighbour: failed, isSilent: true, isRouter: true)) == true)
        #expect(hops.watched == [answering, failed] && hops.silent == [failed])
        for number in 0..<500 {
            let other = Neighbour(address: IPAddress(ipv4: 0xC633_6400 + UInt32(number)), interfaceIndex: 40)
            let isRoom = hops.watched.count < 64
            #expect(hops.take(NeighbourRecord(neighbour: other, isSilent: false, isRouter: true)) == isRoom)
        }
        #expect(hops.watched.count == 64)
    }

    @Test func routersOfOneAddressOnTwoLinksAreTwo() throws {
        let (first, second) = (try neighbour("fe80::1"), try neighbour("fe80::1", on: 41))
        var hops = NextHops()
        _ = hops.watch([first, second])
        _ = hops.take(NeighbourRecord(neighbour: first, isSilent: true))
        #expect(hops.take(NeighbourRecord(neighbour: second, isSilent: false)) == false)
        #expect(hops.silent == [first])
    }

    @Test func theyAreForgottenBeforeTheyAreTooMany() throws {
        let first = try neighbour("192.0.2.1")
        var hops = NextHops()
        _ = hops.watch([first])
        _ = hops.take(NeighbourRecord(neighbour: first, isSilent: true))
        for number in 0..<500 {
            _ = hops.watch([Neighbour(address: IPAddress(ipv4: 0xC633_6400 + UInt32(number)), interfaceIndex: 40)])
        }
        #expect(hops.watched.count <= 64)
        #expect(hops.silent.isEmpty)
    }

    @Test func whatIsToldOfANeighbourIsRead() throws {
        for (type, state, isSilent, isRouter) in [
            (Wire.newNeighbour, Wire.failed, true, false), (Wire.newNeighbour, Wire.stale, false, true),
            (Wire.deleteNeighbour, Wire.failed, false, true),  // nothing is known against it any more
        ] {
            let payload = neighbourPayload("fe80::1", state: state, isRouter: isRouter)
            guard case .neighbour(let record) = events(in: message(type, payload)).events.first else {
                throw Unexpected()
            }
            let neighbour = try neighbour("fe80::1")
            #expect(record == NeighbourRecord(neighbour: neighbour, isSilent: isSilent, isRouter: isRouter))
        }
        let ofABridge = neighbourPayload("192.0.2.1", family: 7, state: Wire.failed)
        #expect(events(in: message(Wire.newNeighbour, ofABridge)).events.isEmpty)
        for length in 0..<12 {
            [UInt8](repeating: 2, count: length).withUnsafeBytes { #expect(NeighbourRecord($0.bytes) == nil) }
        }
    }

    @Test func theKernelTurnsToAnotherRoute() {
        let ipv4 = RouteRecord(family: .ipv4, kind: .unicast, prefixLength: 0, table: 254, interfaceIndex: 40)
        #expect(ipv4.mayGiveWay(to: changed(ipv4) { $0.interfaceIndex = 41 }))
        #expect(!ipv4.mayGiveWay(to: changed(ipv4) { $0.metric = 100 }))
        #expect(!ipv4.mayGiveWay(to: changed(ipv4) { $0.table = 100 }))
        #expect(!ipv4.mayGiveWay(to: changed(ipv4) { $0.prefixLength = 1 }))
        let legs = changed(ipv4) { $0.interfaceIndex = nil }
        #expect(!legs.mayGiveWay(to: legs))
        let half = changed(ipv4) { $0.prefixLength = 1 }
        #expect(!half.mayGiveWay(to: half))  // IPv4 looks at default routes alone
        let ipv6 = RouteRecord(family: .ipv6, kind: .unicast, prefixLength: 3, table: 254, metric: 1024)
        #expect(ipv6.mayGiveWay(to: ipv6))
        #expect(ipv6.mayGiveWay(to: changed(ipv6) { $0.metric = 2048 }))
        #expect(!changed(ipv6) { $0.metric = 2048 }.mayGiveWay(to: ipv6))
        #expect(!ipv6.mayGiveWay(to: ipv4))
    }

    @Test func theKernelIsToldTheEffectiveUserWhereItWouldTakeAnother() throws {
        var flow = Flow(destination: try #require(IPAddress("45.0.0.1")))
        #expect(flow.userToName(real: 1000, effective: 1000) == nil)
        #expect(flow.userToName(real: 0, effective: 1000) == 1000)
        flow.user = 7
        #expect(flow.userToName(real: 0, effective: 1000) == 7)
    }

    private func neighbour(_ address: String, on index: UInt32 = 40) throws -> Neighbour {
        Neighbour(address: try #require(IPAddress(address)), interfaceIndex: index)
    }

    private func changed(_ route: RouteRecord, _ change: (inout RouteRecord) -> Void) -> RouteRecord {
        var route = route
        change(&route)
        return route
    }
}
