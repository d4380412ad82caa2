// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Uplink
import UplinkTesting

/// What becomes of the device's network during a storm: cables, addresses, routes and links come and go.
struct Weather: Sendable {
    private enum Change: CaseIterable {
        case cable, lease, address, secondFamily, secondUplink, link, forbiddenRoute
    }

    let network: TestNetwork

    /// Changes the network until the storm is over, on a thread of its own; the router keeps its addresses throughout.
    ///
    /// On a machine that is very busy `ip` may take longer than it is given, and a change, or the next one, fails: that
    /// is no fault of what the storm is about, as long as there is weather at all.
    func blow(_ record: StormRecord, seed: UInt64, until isOver: @escaping @Sendable () -> Bool) async throws {
        try await offPool {
            var random = SeededGenerator(seed: seed, "weather")
            try network.connectSecondUplink()
            while !isOver() {
                record.begin()
                do {
                    try change(&random)
                    record.end("changed")
                } catch {
                    record.end("failed")
                }
                usleep(UInt32.random(in: 0..<40_000, using: &random))
            }
        }
    }

    private func change(_ random: inout SeededGenerator) throws {
        let pause = UInt32.random(in: 0..<30_000, using: &random)
        switch Change.allCases.randomElement(using: &random) ?? .cable {
        case .cable:
            try network.cableOut()
            usleep(pause)
            try network.cableIn()
            try network.goOnline()  // what stood behind the link went with it
        case .lease:
            try network.goOffline()
            usleep(pause)
            try network.goOnline()
        case .address:
            try network.changeAddress(to: "192.0.2.\(Int.random(in: 20..<200, using: &random))")
        case .secondFamily:
            try network.addIPv6()
            usleep(pause)
            try network.device.ip("-6 route flush default")
        case .secondUplink:
            try network.device.ip("route replace default via 198.51.100.1 metric 7")
            usleep(pause)
            try network.device.ip("route del default via 198.51.100.1 metric 7")
        case .link:
            try network.device.batch([
                "link add d0 type veth peer name d1", "link set d0 up", "addr add 198.18.0.1/24 dev d0", "link del d0",
            ])
        case .forbiddenRoute:
            try network.device.ip("route add prohibit default metric 1")
            usleep(pause)
            try network.device.ip("route del prohibit default metric 1")
        }
    }
}
