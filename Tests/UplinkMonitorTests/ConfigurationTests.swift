// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct ConfigurationTests {
    typealias Configuration = LinuxNetworkMonitor.Configuration

    @Test func theDefaultsAreAccepted() {
        #expect(Configuration().minimumInterval == .milliseconds(50))
        #expect(Configuration().kernelFilter)
        #expect(Configuration().ipv4Probes.count == 2)
        #expect(Configuration().ipv4Probes.map { ($0.bytes.first ?? 0) < 128 } == [true, false])
        #expect(Configuration().ipv6Probes.map { ($0.bytes.first ?? 0) >> 5 } == [1])
    }

    @Test(arguments: ["0.0.0.0", "127.0.0.1", "169.254.1.1", "224.0.0.1", "255.255.255.255", "2600::1"])
    func probesOffTheInternetAreErrors(text: String) throws {
        let probe = try #require(IPAddress(text))
        let error = #expect(throws: NetworkMonitorError.self) { try Configuration(ipv4Probes: [probe]) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(text) == true)
    }

    @Test(arguments: ["::", "::1", "fe80::1", "ff02::1", "192.0.2.1"])
    func ipv6ProbesOffTheInternetAreErrors(text: String) throws {
        let probe = try #require(IPAddress(text))
        #expect(throws: NetworkMonitorError.self) { try Configuration(ipv6Probes: [probe]) }
    }

    @Test func tooFewAndTooManyProbesAreErrors() throws {
        let probe = try #require(IPAddress("45.0.0.1"))
        #expect(throws: NetworkMonitorError.self) { try Configuration(ipv4Probes: []) }
        #expect(throws: NetworkMonitorError.self) {
            try Configuration(ipv4Probes: Array(repeating: probe, count: 9))
        }
    }

    @Test(arguments: [Duration.seconds(-1), .seconds(61), .seconds(Int64.max), .nanoseconds(-1)])
    func senselessIntervalsAreErrors(interval: Duration) {
        #expect(throws: NetworkMonitorError.self) { try Configuration(minimumInterval: interval) }
    }

    @Test(arguments: [0, -1, Int.min, Int.max, 1 << 30 + 1])
    func senselessBufferSizesAreErrors(size: Int) {
        #expect(throws: NetworkMonitorError.self) { try Configuration(receiveBufferSize: size) }
    }

    @Test(arguments: [Duration.seconds(-1), .seconds(301), .seconds(Int64.min)])
    func senselessTimesToSettleAreErrors(settle: Duration) {
        #expect(throws: NetworkMonitorError.self) { try Configuration(settle: settle) }
    }

    @Test(arguments: [Duration.zero, .milliseconds(99), .seconds(3601), .seconds(-5)])
    func senselessIntervalsOfPollingAreErrors(interval: Duration) {
        let error = #expect(throws: NetworkMonitorError.self) {
            try Configuration(whenUnavailable: .poll(every: interval))
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func aMappedDestinationIsOneOfIPv4() throws {
        let mapped = try #require(IPAddress("::ffff:192.0.2.1"))
        #expect(try Configuration().leading(to: mapped, zone: nil).target.destination == IPAddress("192.0.2.1"))
        let other = try #require(IPAddress("::fffe:c000:201"))
        #expect(try Configuration().leading(to: other, zone: nil).target.destination == other)
    }

    @Test func calmHoldsALossDownForAsLongAsChromiumDoes() throws {
        #expect(Configuration.calm.settle == .milliseconds(1500))
        #expect(Configuration.calm.minimumInterval == .milliseconds(500))
        #expect(Configuration().settle == .zero)
        #expect(Configuration().whenUnavailable == .fail)
    }
}
