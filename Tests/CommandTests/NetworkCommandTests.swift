// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UplinkTesting

/// `watch`, `wait` and `run` in network namespaces, where the test makes the network come and go.
@Suite(
    .timeLimit(.minutes(2)),
    .needsNetworkNamespaces)
struct NetworkCommandTests {
    static let up = [
        "link add uplink0 type veth peer name peer0", "link set peer0 up", "link set uplink0 up",
        "address add 192.0.2.2/24 dev uplink0", "route add default via 192.0.2.1",
    ]

    /// As some supervisors start their programs. libuv aborts when a descriptor of its own has such a number.
    @Test func aProgramMayBeStartedWithoutStandardStreams() async throws {
        try await withNetworkNamespaces { host, _ in
            let program = BuiltProgram.path
            for (streams, output) in [("<&- >&- 2>&-", 0), ("<&- >&-", 1), ("2>&-", 0)] {
                let shell = "'\(program)' wait --timeout 0 \(streams); exit $?"
                let result = try await host.run(["sh", "-c", shell])
                #expect(result.status == 1, "\(streams)")
                #expect(result.errors.contains("did not come") == (output == 1))
            }
            let lost = try await host.run(["sh", "-c", "'\(program)' watch >&-"])
            #expect(lost.status == 1)
            #expect(lost.errors.contains("Bad file descriptor"))
        }
    }

    @Test func watchWritesAnObjectPerPathWithEveryField() async throws {
        try await withNetworkNamespaces { host, _ in
            let program = try BuiltProgram.start("watch --json", in: host)
            try await program.waitForOutput("\n")
            try host.batch(Self.up)
            try await program.waitForOutput("\"satisfied\"")
            program.signal(SIGINT)
            #expect(try await program.wait() == 130)
            let lines = program.output.split(separator: "\n")
            let objects = try lines.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(objects.first?["status"] as? String == "unsatisfied")
            let last = try #require(objects.last)
            #expect(last["status"] as? String == "satisfied")
            #expect((last["ipv4"] as? [String: Any])?["gateway"] as? String == "192.0.2.1")
            let fields: Set = [
                "status", "unsatisfiedReason", "scope", "ipv4", "ipv6", "interfaces", "isExpensive", "isConstrained",
                "generation",
            ]
            for object in objects { #expect(fields.isSubset(of: object.keys)) }
        }
    }

    @Test func watchEndsAfterSoManyPathsAndIsReadableByPeople() async throws {
        try await withNetworkNamespaces { host, _ in
            let program = try await BuiltProgram.run("watch --count 1", in: host)
            #expect(program.status == 0)
            #expect(program.output.split(separator: "\n").count == 1)
            #expect(program.output.contains("unsatisfied: "))
        }
    }

    @Test func watchEndsQuietlyWhenItsReaderHasGoneThoughNothingHappens() async throws {
        try await withNetworkNamespaces { host, _ in
            let command = "\(BuiltProgram.path) watch | head -n 1 >/dev/null; echo status ${PIPESTATUS[0]}"
            let program = try RunningProgram(host.entering(["/bin/bash", "-c", command]))
            try await program.wait()
            #expect(program.output == "status 0\n")
            #expect(program.errors.isEmpty)
        }
    }

    @Test func waitEndsWhenTheNetworkComes() async throws {
        try await withNetworkNamespaces { host, _ in
            let program = try BuiltProgram.start("wait --timeout 30", in: host)
            let other = try BuiltProgram.start("wait --for interface=uplink0", in: host)
            for program in [program, other] { try await Self.waitForSignalHandlers(of: program) }
            #expect(program.status == nil && other.status == nil)
            try host.batch(Self.up)
            #expect(try await program.wait() == 0)
            #expect(try await other.wait() == 0)
            #expect(program.output.isEmpty && program.errors.isEmpty)
        }
    }

    @Test func waitSaysNotThereInTimeAndNotBefore() async throws {
        try await withNetworkNamespaces { host, _ in
            let start = ContinuousClock.now
            let program = try await BuiltProgram.run("wait --timeout 0.3", in: host)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            #expect(program.status == 1)
            #expect(program.errors.contains("no link is up"))
            try host.batch(Self.up)
            #expect(try await BuiltProgram.run("wait --timeout 0", in: host).status == 0)
            #expect(try await BuiltProgram.run("wait --timeout 0 --for ipv4", in: host).status == 0)
            #expect(try await BuiltProgram.run("wait --timeout 0 --for local", in: host).status == 0)
            #expect(try await BuiltProgram.run("wait --timeout 0 --for ipv6", in: host).status == 1)
            #expect(try await BuiltProgram.run("wait --timeout 0 --for both", in: host).status == 1)
            #expect(try await BuiltProgram.run("wait --timeout 0 --for kind=wifi", in: host).status == 1)
        }
    }

    @Test func waitCanBeInterrupted() async throws {
        try await withNetworkNamespaces { host, _ in
            let program = try BuiltProgram.start("wait", in: host)
            try await Self.waitForSignalHandlers(of: program)
            program.signal(SIGINT)
            #expect(try await program.wait() == 130)
        }
    }

    @Test func runBecomesTheProgramOnceTheNetworkIsThere() async throws {
        try await withNetworkNamespaces { host, _ in
            let program = try BuiltProgram.start("run --within 30 -- /bin/sh -c echo$IFS$$;exit${IFS}7", in: host)
            try await Task.sleep(for: .milliseconds(200))  // nothing must happen meanwhile
            #expect(program.status == nil && program.output.isEmpty)
            try host.batch(Self.up)
            #expect(try await program.wait() == 7)
            #expect(program.output == "\(program.id)\n")
        }
    }

    /// Both come while the program cannot run, so that it learns of both at the same time.
    @Test func aSignalThatComesWithTheNetworkIsNotLost() async throws {
        try await withNetworkNamespaces { host, _ in
            try host.batch(Self.up)
            for _ in 0..<10 {
                try host.batch(["route delete default"])
                let program = try BuiltProgram.start("run --within 30 -- echo started", in: host)
                try await Self.waitForSignalHandlers(of: program)
                try await Task.sleep(for: .milliseconds(100))  // until it waits for the network
                program.signal(SIGSTOP)
                try host.batch(["route add default via 192.0.2.1"])
                program.signal(SIGTERM)
                program.signal(SIGCONT)
                #expect(try await program.wait() == 143)
                #expect(program.output.isEmpty)
            }
        }
    }

    @Test func runStartsNothingWhenTheNetworkDoesNotCome() async throws {
        try await withNetworkNamespaces { host, _ in
            let program = try await BuiltProgram.run("run --within 0.2 -- echo started", in: host)
            #expect(program.status == 124)
            #expect(program.output.isEmpty)
            #expect(program.errors.contains("did not come in time"))
        }
    }

    @Test func runFailsAsEnvDoes() async throws {
        try await withNetworkNamespaces { host, _ in
            try host.batch(Self.up)
            #expect(try await BuiltProgram.run("run --within 5 -- no-such-program", in: host).status == 127)
            #expect(try await BuiltProgram.run("run --within 5 -- /etc/passwd", in: host).status == 126)
            #expect(try await BuiltProgram.run("run --within 5 -- false", in: host).status == 1)
        }
    }

    /// A person is told why nothing happens; who wants silence is not.
    @Test(arguments: ["get http://192.0.2.1/", "get -s http://192.0.2.1/"])
    func whoWaitsAtATerminalIsToldSo(command: String) async throws {
        try await withNetworkNamespaces { host, _ in
            let program = try BuiltProgram.start(
                command + " --within 1", in: host, terminal: TerminalDimensions(columns: 80, rows: 24))
            #expect(try await program.wait() == 1)
            #expect(program.output.contains("Waiting for the network (") == !command.contains("-s"))
            #expect(program.output.contains("Error: "))
        }
    }

    @Test func runHandsOnTheWordsByteForByte() async throws {
        try await withNetworkNamespaces { host, _ in
            try host.batch(Self.up)
            let line = "\(BuiltProgram.path) run --within 5 -- /usr/bin/printf %s $'caf\\xe9' -- | od -An -tx1"
            let program = try RunningProgram(["/sbin/ip", "netns", "exec", host.name, "/bin/bash", "-c", line])
            #expect(try await program.wait() == 0, "\(program.errors)")
            #expect(program.output == " 63 61 66 e9 2d 2d\n")
        }
    }

    @Test(arguments: [[], ["--block-signal=PIPE"], ["--ignore-signal=PIPE"]])
    func runHandsOnSignalSettingsAsTheyWere(_ settings: [String]) async throws {
        try await withNetworkNamespaces { host, _ in
            try host.batch(Self.up)
            let environment = ["/usr/bin/env"] + settings
            let look = ["/bin/grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"]
            let run = [BuiltProgram.path, "run", "--within", "5", "--"]
            let inside = try RunningProgram(host.entering(environment + run + look))
            try await inside.wait()
            let outside = try RunningProgram(environment + look)
            try await outside.wait()
            #expect(Self.masks(inside) == Self.masks(outside))
            #expect(Self.masks(inside).count == 3)
        }
    }

    /// The signals blocked, ignored and caught, without those from 32 on, which belong to glibc.
    private static func masks(_ program: RunningProgram) -> [UInt64] {
        program.output.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0, radix: 16) }.map {
            $0 & 0x7FFF_FFFF
        }
    }

    /// Until they are caught, they would end the program as they end any other.
    static func waitForSignalHandlers(of program: RunningProgram) async throws {
        try await eventually("its signals are caught") {
            let status = FileManager.default.contents(atPath: "/proc/\(program.id)/status") ?? Data()
            let caught = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("SigCgt") }
            let mask = caught.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) } ?? 0
            return [SIGINT, SIGTERM, SIGQUIT].allSatisfy { mask & 1 << ($0 - 1) != 0 }
        }
    }
}
