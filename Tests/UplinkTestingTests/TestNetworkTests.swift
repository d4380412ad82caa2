// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkEventLoop
import UplinkTesting

/// The networks of the test kit, in a real kernel.
@Suite(.serialized, .timeLimit(.minutes(2)), .needsNetworkNamespaces)
struct TestNetworkTests {
    @Test(arguments: [TestNetwork.Beginning.ipv4, .ipv6, .dualStack])
    func theDeviceReachesTheRouterUntilTheCableIsPulled(beginning: TestNetwork.Beginning) async throws {
        try await withTestNetwork(beginning) { network in
            let gateway = beginning == .ipv6 ? "2001:db8:1::1" : "192.0.2.1"
            try await eventually { try await Self.route(to: gateway, on: network).contains("dev eth0") }
            #expect(try await Self.carrier(network) == "1\n")
            try network.cableOut()
            try await eventually { try await Self.carrier(network) == "0\n" }
            try network.cableOut()
            try network.cableIn()
            try await eventually { try await Self.carrier(network) == "1\n" }
        }
    }

    @Test func stepsMayBeRepeated() async throws {
        try await withTestNetwork(.dualStack) { network in
            for _ in 0..<2 {
                for _ in 0..<2 { try network.goOffline() }
                #expect(try await Self.addresses(network) == [])
                for _ in 0..<2 { try network.goOnline() }
                #expect(try await Self.addresses(network) == ["192.0.2.10/24", "2001:db8:1::10/64"])
            }
            #expect(try await Self.route(to: "45.0.0.1", on: network).contains("via 192.0.2.1"))
            #expect(try await Self.route(to: "2600::1", on: network).contains("via 2001:db8:1::1"))
        }
    }

    @Test func anotherAddressReplacesTheOld() async throws {
        try await withTestNetwork { network in
            try network.changeAddress()
            #expect(try await Self.addresses(network) == ["192.0.2.20/24"])
            #expect(try await Self.route(to: "45.0.0.1", on: network).contains("src 192.0.2.20"))
            try network.changeAddress(to: "192.0.2.30")
            #expect(try await Self.addresses(network) == ["192.0.2.30/24"])
        }
    }

    @Test func aSecondUplinkIsReachableWithoutARoute() async throws {
        try await withTestNetwork { network in
            try network.connectSecondUplink()
            #expect(try await Self.route(to: "198.51.100.1", on: network).contains("dev eth1"))
            #expect(try await Self.route(to: "45.0.0.1", on: network).contains("dev eth0"))
        }
    }

    @Test func aProgramIsRunOnTheDevice() async throws {
        try await withTestNetwork { network in
            let links = try await network.run(["ls", "/sys/class/net"], environment: ["UNSET_ME": ""])
            #expect(links.output == "eth0\nlo\n")
            let script = "echo heard; echo said >&2; grep -q 'SigBlk:.0*$' /proc/self/status && exit 7"
            let result = try await network.run(["sh", "-c", script])
            #expect(result.status == 7)
            #expect(result.output == "heard\n")
            #expect(result.errors == "said\n")
            let killed = try await network.run(["sh", "-c", "kill -9 $$"])
            #expect(killed.status == 137)
        }
    }

    @Test func aProgramIsGivenItsWordsWholeOrNotStarted() async throws {
        try await withTestNetwork { network in
            for (command, variables) in [(["echo", "a\0b"], [:]), (["echo"], ["A": "a\0b"])] {
                let error = await #expect(throws: TestNetworkError.self) {
                    try await network.run(command, environment: variables)
                }
                #expect(error?.code == .cannotStart)
            }
            let result = try await network.run(["true"], within: Duration(attoseconds: .max))
            #expect(result.status == 0)
        }
    }

    @Test func aProgramThatTakesTooLongIsKilledWithItsChildren() async throws {
        try await withTestNetwork { network in
            let command = ["sh", "-c", "echo begun; sleep 4000 & wait"]
            let error = await #expect(throws: TestNetworkError.self) {
                try await network.run(command, within: .seconds(2))  // long enough for it to begin
            }
            #expect(error?.code == .timedOut)
            #expect(error?.message.contains("begun") == true)
            try await eventually { try Self.processes(in: network).isEmpty }
        }
    }

    @Test func aProgramEndsWithItsTask() async throws {
        try await withTestNetwork { network in
            let task = Task { try await network.run(["sleep", "4000"]) }
            try await eventually { try !Self.processes(in: network).isEmpty }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try Self.processes(in: network).isEmpty)
        }
    }

    @Test func whatIsWrongIsSaidInTheWordsOfIP() async throws {
        try await withTestNetwork(.empty) { network in
            let error = #expect(throws: TestNetworkError.self) { try network.device.ip("link set eth7 up") }
            #expect(error?.code == .commandFailed)
            #expect(error?.message.contains("eth7") == true)
            let missing = try await network.run(["no-such-program"])
            #expect(missing.status != 0)
            #expect(missing.errors.contains("no-such-program"))
        }
    }

    @Test func aNetworkIsGoneAfterAnError() async throws {
        struct Failure: Error {}
        var paths: [String] = []
        await #expect(throws: Failure.self) {
            try await withTestNetwork { network in
                paths = [network.device.path, network.router.path]
                for path in paths { #expect(access(path, F_OK) == 0) }
                throw Failure()
            }
        }
        for path in paths { #expect(access(path, F_OK) == -1) }
    }

    @Test func aLoopCanBeHadOnEitherMachine() async throws {
        try await withTestNetwork(.connected) { network in
            for (namespace, name) in [(network.device, "eth0"), (network.router, "r0")] {
                try await withEventLoop(networkNamespace: namespace.path) { loop in
                    let index = await withCheckedContinuation { continuation in
                        loop.execute { continuation.resume(returning: if_nametoindex(name)) }
                    }
                    #expect(index != 0)
                }
            }
        }
    }

    @Test func networksSideBySideDoNotKnowOfOneAnother() async throws {
        try await withTestNetwork { first in
            try await withTestNetwork { second in
                try first.goOffline()
                #expect(try await Self.addresses(second) == ["192.0.2.10/24"])
            }
        }
    }

    private static func carrier(_ network: TestNetwork) async throws -> String {
        try await network.run(["cat", "/sys/class/net/eth0/carrier"]).output
    }

    private static func route(to address: String, on network: TestNetwork) async throws -> String {
        try await network.run(["ip", "route", "get", address]).output
    }

    /// The global addresses of the device's first link.
    private static func addresses(_ network: TestNetwork) async throws -> [Substring] {
        let text = try await network.run(["ip", "-o", "addr", "show", "dev", "eth0", "scope", "global"]).output
        return text.split(separator: "\n").map { $0.split(separator: " ")[3] }
    }

    /// The processes on the device.
    private static func processes(in network: TestNetwork) throws -> [String] {
        let files = UnsafeMutablePointer<FILE>(popen("ip netns pids \(network.device.name)", "re"))
        guard let files else { throw Missing("pipe to ip(8)") }
        defer { pclose(files) }
        var line = [CChar](repeating: 0, count: 64)
        var lines: [String] = []
        while fgets(&line, 64, files) != nil {
            lines.append(String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        return lines
    }
}
