// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UplinkTesting

/// `uplink watch` for people and for programs, in network namespaces, where the test makes the network come and go.
@Suite(
    .timeLimit(.minutes(3)), .serialized,
    .needsNetworkNamespaces)
struct WatchCommandTests {
    private static func connect(_ host: NetworkNamespace, _ router: NetworkNamespace) throws {
        try host.ip("link set lo up")
        try host.ip("link add eth0 index 40 type veth peer name r0 index 50 netns \(router.name)")
        try router.batch(["addr add 192.0.2.1/24 dev r0", "addr add 2001:db8:1::1/64 dev r0 nodad", "link set r0 up"])
        try host.batch([
            "link set eth0 up", "addr add 192.0.2.10/24 dev eth0", "route add default via 192.0.2.1",
        ])
    }

    private static func objects(_ program: RunningProgram) throws -> [[String: Any]] {
        try program.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test func peopleAreToldWhatChanged() async throws {
        try await withNetworkNamespaces { host, router in
            try Self.connect(host, router)
            let program = try BuiltProgram.start("watch", in: host)
            try await program.waitForOutput("satisfied: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1\n")
            try host.ip("route replace default via 192.0.2.2")
            try await program.waitForOutput("IPv4 gateway 192.0.2.2, was 192.0.2.1")
            try router.ip("link set r0 down")
            try await program.waitForOutput("network lost: the link is down")
            try router.ip("link set r0 up")
            try await program.waitForOutput("network there: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.2")
            program.signal(SIGTERM)
            try await program.wait()
            #expect(!program.output.contains("\u{1B}"))  // a pipe gets no colours
        }
    }

    @Test(arguments: [("", true), ("1", false)])
    func aTerminalGetsColoursUnlessNoColorIsSet(noColor: String, hasColours: Bool) async throws {
        try await withNetworkNamespaces { host, router in
            try Self.connect(host, router)
            let program = try BuiltProgram.start(
                "watch --count 1", in: host, environment: ["NO_COLOR": noColor, "TERM": "xterm"],
                terminal: TerminalDimensions(columns: 120, rows: 24))
            try await program.wait()
            #expect(program.output.contains("satisfied: eth0"))
            #expect(program.output.contains("\u{1B}[32m") == hasColours)
        }
    }

    @Test func oneFamilyCanBeFollowedAlone() async throws {
        try await withNetworkNamespaces { host, router in
            try Self.connect(host, router)
            let program = try BuiltProgram.start("watch --json --family 6", in: host)
            try await program.waitForOutput("\n")
            try host.ip("route replace default via 192.0.2.2")  // which is none of IPv6's business
            try host.batch([
                "addr add 2001:db8:1::10/64 dev eth0 nodad", "route add default via 2001:db8:1::1",
            ])
            try await program.waitForOutput("\"status\":\"satisfied\"")
            program.signal(SIGINT)
            try await program.wait()
            let objects = try Self.objects(program)
            #expect(objects.first?["status"] as? String == "unsatisfied")
            #expect(objects.allSatisfy { ($0["ipv4"] as? [String: Any])?["isAvailable"] as? Bool == false })
            #expect((objects.last?["ipv6"] as? [String: Any])?["gateway"] as? String == "2001:db8:1::1")
        }
    }

    @Test func theWayToADestinationCanBeFollowed() async throws {
        try await withNetworkNamespaces { host, router in
            try Self.connect(host, router)
            try host.ip("route del default")
            let program = try BuiltProgram.start("watch --json --destination 10.1.2.3", in: host)
            try await program.waitForOutput("\"status\":\"unsatisfied\"")
            try host.ip("route add 10.0.0.0/8 via 192.0.2.1")
            try await program.waitForOutput("\"status\":\"satisfied\"")
            program.signal(SIGINT)
            try await program.wait()
            let neighbour = try await BuiltProgram.run("wait --for destination:192.0.2.77 --timeout 0", in: host)
            #expect(neighbour.status == 0)
            #expect(try await BuiltProgram.run("wait --timeout 0", in: host).status == 1)
            #expect(try await BuiltProgram.run("wait --timeout 0 --for destination:11.0.0.1", in: host).status == 1)
        }
    }

    @Test func statisticsComeAtTheEndAndWhenAskedFor() async throws {
        try await withNetworkNamespaces { host, router in
            try Self.connect(host, router)
            let program = try BuiltProgram.start("watch --statistics", in: host)
            try await program.waitForOutput("\n")
            try await eventually("SIGUSR1 is caught and answered") {
                if !program.errors.contains("statistics: ") { program.signal(SIGUSR1) }
                try await Task.sleep(for: .milliseconds(20))
                return program.errors.contains("statistics: messages ")
            }
            program.signal(SIGINT)
            #expect(try await program.wait() == 130)
            #expect(program.errors.split(separator: "\n").count >= 2)
            let json = try await BuiltProgram.run("watch --statistics --json --count 1", in: host)
            let object = try JSONSerialization.jsonObject(with: Data(json.errors.utf8)) as? [String: Int]
            #expect(object?["told"] == 1)
            #expect(object?["evaluations"] ?? 0 >= 1)
            #expect(object?["dropped"] == 0)
            #expect(object?["resyncs"] == 0)
        }
    }

    @Test(arguments: [EAFNOSUPPORT, EPERM])
    func withoutNetlinkItIsAnErrorThatSaysWhatToDo(errno: CInt) async throws {
        try await withNetworkNamespaces { host, router in
            try Self.connect(host, router)
            let program = try await BuiltProgram.startWithoutNetlink("watch --json", errno: errno, in: host)
            #expect(try await program.wait() == 1)
            #expect(program.output.isEmpty)
            #expect(program.errors.contains("RestrictAddressFamilies=AF_NETLINK"))
        }
    }

    @Test(arguments: [EAFNOSUPPORT, EPERM])
    func withoutNetlinkItCanPoll(errno: CInt) async throws {
        try await withNetworkNamespaces { host, router in
            try Self.connect(host, router)
            let program = try await BuiltProgram.startWithoutNetlink("watch --json --poll 0.1", errno: errno, in: host)
            try await program.waitForOutput("\"status\":\"satisfied\"")
            try host.ip("route del default")
            try await program.waitForOutput("\"noRoute\"")
            program.signal(SIGTERM)
            try await program.wait()
            for object in try Self.objects(program) { #expect(object["isAuthoritative"] as? Bool == false) }
        }
    }

    @Test(arguments: [("wait --timeout 20", 1), ("run --within 20 -- true", 125)] as [(String, Int32)])
    func withoutNetlinkWaitAndRunSayThatTheyCanPoll(words: String, status: Int32) async throws {
        try await withNetworkNamespaces { host, _ in
            let program = try await BuiltProgram.startWithoutNetlink(words, errno: EPERM, in: host)
            #expect(try await program.wait() == status)
            #expect(program.errors.contains("with --poll of `watch`, `wait` and `run`"), "\(program.errors)")
        }
    }

    @Test(arguments: ["wait --poll 0.1", "run --within 60 --poll 0.1 -- true"])
    func withoutNetlinkWaitAndRunCanPoll(words: String) async throws {
        try await withNetworkNamespaces { host, router in
            let program = try await BuiltProgram.startWithoutNetlink(words, errno: EPERM, in: host)
            try Self.connect(host, router)
            #expect(try await program.wait() == 0, "\(program.errors)")
        }
    }

    @Test(arguments: [9, 80])
    func aPortThatAnswersValidates(port: Int) async throws {
        try await withNetworkNamespaces { host, router in
            try Self.connect(host, router)
            // Nobody listens on the router: it refuses at once.
            let program = try BuiltProgram.start("watch --json --validate tcp://192.0.2.1:\(port)", in: host)
            try await program.waitForOutput("Connection refused")
            program.signal(SIGTERM)
            try await program.wait()
            let last = try #require(try Self.objects(program).last)
            #expect(last["status"] as? String == "satisfied")
            let validation = (last["ipv4"] as? [String: Any])?["validation"] as? [String: Any]
            #expect(validation?["state"] as? String == "failed")
        }
    }

    @Test func aShortBreakIsNotToldWhereItIsToSettle() async throws {
        try await withNetworkNamespaces { host, router in
            try Self.connect(host, router)
            let program = try BuiltProgram.start("watch --json --settle 60", in: host)
            try await program.waitForOutput("\"status\":\"satisfied\"")
            try router.ip("link set r0 down")
            // Real time: the loss has to be seen before it is over. If it is not, the test holds all the same.
            try await Task.sleep(for: .milliseconds(200))
            try router.ip("link set r0 up")
            try host.ip("route replace default via 192.0.2.2")
            try await program.waitForOutput("192.0.2.2")
            program.signal(SIGTERM)
            try await program.wait()
            #expect(!program.output.contains("unsatisfied\","))
        }
    }

    @Test func requirementsCanBeCombined() async throws {
        try await withNetworkNamespaces { host, router in
            try Self.connect(host, router)
            for requirement in [
                "ipv4,interface:eth0", "internet,kind:ethernet,unmetered", "ipv4,stable:0.2", "local", "interface=eth0",
            ] {
                let program = try await BuiltProgram.run("wait --timeout 20 --for \(requirement)", in: host)
                #expect(program.status == 0, "\(requirement): \(program.errors)")
            }
            for requirement in ["ipv4,ipv6", "interface:eth1", "kind:wifi,ipv4", "stable:30"] {
                let program = try await BuiltProgram.run("wait --timeout 0.3 --for \(requirement)", in: host)
                #expect(program.status == 1, "\(requirement)")
            }
        }
    }
}
