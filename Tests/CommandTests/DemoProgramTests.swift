// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UplinkTesting

@testable import UplinkCommand

/// The real `uplink demo`, in a pseudo-terminal, with a network of its own.
@Suite(
    .timeLimit(.minutes(2)), .serialized,
    .needsNetworkNamespaces)
struct DemoProgramTests {
    private static let size = TerminalDimensions(columns: 80, rows: 30)

    private func start(_ words: String, environment: [String: String] = [:]) throws -> RunningProgram {
        let environment = ["TERM": "xterm-256color", "NO_COLOR": "", "COLORTERM": ""].merging(environment) { $1 }
        return try BuiltProgram.start(words, environment: environment, terminal: Self.size)
    }

    private func expectRestoredTerminal(_ program: RunningProgram) {
        #expect(program.output.contains("\u{1B}[?1049h"))
        #expect(program.output.contains("\u{1B}[?25h\u{1B}[?1049l"))
        let modes = program.terminalSettings.map { $0.c_lflag & tcflag_t(ICANON | ECHO | ISIG) }
        #expect(modes == tcflag_t(ICANON | ECHO | ISIG))
    }

    /// What process 1 has, all have. Here that is the program itself, in namespaces of the test's.
    @Test(arguments: ["demo-stage --scenario online", "outage-stage --megabytes 1 --pause 0"])
    func theInsideAloneChangesNothing(words: String) async throws {
        let unshare = ["/usr/bin/env", "unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc"]
        let program = try RunningProgram(unshare + [BuiltProgram.path] + words.split(separator: " ").map(String.init))
        #expect(try await program.wait() == 1)
        #expect(program.errors.contains("call `uplink demo`"), "\(program.errors)")
    }

    @Test func theNetworkComesLateAndThePictureWithIt() async throws {
        let program = try start("demo")
        try await program.waitForOutput("Loading the picture")
        try await program.waitForOutput("No network. It starts as soon as the network is there.")
        try await program.waitForOutput("PNG picture, 192 × 120 pixels")
        try program.type("x")  // no key of ours
        try program.type("q")
        #expect(try await program.wait() == 0)
        expectRestoredTerminal(program)
        // The result stays on the terminal after its screen has gone.
        let left = program.output.components(separatedBy: "\u{1B}[?1049l").last ?? ""
        #expect(left.contains("PNG picture, 192 × 120 pixels"))
    }

    @Test func onTheErrorScreenRTriesAgainAndCtrlCEnds() async throws {
        let program = try start("demo --scenario offline")
        try await program.waitForOutput("✗ No network")
        try await program.waitForOutput("try again")
        let before = program.output.count
        try program.type("r")
        try await eventually("the loading screen again") {
            program.output.dropFirst(before).contains("Loading the picture")
        }
        try program.type("\u{03}")
        #expect(try await program.wait() == 130)
        expectRestoredTerminal(program)
    }

    @Test func qWhileItLoadsIsNotDone() async throws {
        let program = try start("demo --scenario offline")
        try await program.waitForOutput("Loading the picture")
        try program.type("q")
        #expect(try await program.wait() == 1)
        expectRestoredTerminal(program)
    }

    /// The network would come 1.2 seconds after the loading screen.
    @Test func qWhileTheNetworkIsStillToComeWaitsForNothing() async throws {
        let program = try start("demo")
        try await program.waitForOutput("Loading the picture")
        let start = ContinuousClock.now
        try program.type("q")
        #expect(try await program.wait() == 1)
        #expect(ContinuousClock.now - start < .milliseconds(900))
        expectRestoredTerminal(program)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGQUIT])
    func otherSignalsRestoreTheTerminalToo(signal: CInt) async throws {
        let program = try start("demo --scenario online")
        try await program.waitForOutput("PNG picture")
        program.signal(signal)
        #expect(try await program.wait() == 128 + signal)
        expectRestoredTerminal(program)
    }

    @Test func aNewSizeIsDrawnAnew() async throws {
        let program = try start("demo --scenario online")
        try await program.waitForOutput("PNG picture")
        let before = program.output.count
        program.resize(to: TerminalDimensions(columns: 40, rows: 12))
        try await eventually("another drawing") { program.output.dropFirst(before).contains("PNG picture") }
        try program.type("q")
        #expect(try await program.wait() == 0)
    }

    @Test func noColorMeansNoColour() async throws {
        let program = try start("demo --scenario online", environment: ["NO_COLOR": "1"])
        try await program.waitForOutput("PNG picture")
        try program.type("q")
        #expect(try await program.wait() == 0)
        let color = program.output.firstMatch(of: /\u{1B}\[[0-9;]*[1-9][0-9;]*m.*/.dotMatchesNewlines())
        #expect(color.map { String($0.output) } == nil)
    }

    #if Pictures
    @Test(arguments: [
        ("xterm-kitty", "\u{1B}_G"), ("mlterm", "\u{1B}P"), ("xterm-256color", "▄"), ("linux", "▄"),
    ])
    func thePictureIsDrawnAsTheTerminalCan(kind: String, sign: String) async throws {
        let program = try start("demo --scenario online", environment: ["TERM": kind])
        try await program.waitForOutput("PNG picture")
        try program.type("q")
        #expect(try await program.wait() == 0)
        #expect(program.output.contains(sign))
    }
    #endif

    @Test(arguments: [
        ("online", 0, "PNG picture"), ("offline", 1, "No network"), ("slow", 1, "Too slow"), ("late", 0, "PNG"),
    ])
    func withoutATerminalTheResultIsPrintedPlainly(scenario: String, status: CInt, text: String) async throws {
        let program = try await BuiltProgram.run("demo --scenario \(scenario)")
        #expect(program.status == status)
        #expect(program.output.contains(text))
        #expect(!program.output.contains("\u{1B}"))
        #expect(program.errors.isEmpty)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
    func whateverEndsItNoProcessIsLeft(signal: CInt) async throws {
        let mark = "UPLINK_TEST_MARK=\(UUID())"
        let parts = mark.split(separator: "=").map(String.init)
        let program = try start("demo --scenario offline", environment: [parts[0]: parts[1]])
        try await program.waitForOutput("Loading the picture")
        #expect(Self.processes(with: mark) >= 2)  // the screen and the server
        program.signal(signal)
        #expect(try await program.wait() == 128 + signal)
        try await eventually("all processes have gone") { Self.processes(with: mark) == 0 }
    }

    /// The server gives no byte beyond an outage before it has come and gone, so that none is missed on a slow machine.
    @Test func aDownloadOutlivesTheCableAndTheServer() async throws {
        let mark = "UPLINK_TEST_MARK=\(UUID())"
        let parts = mark.split(separator: "=").map(String.init)
        let program = try BuiltProgram.start(
            "demo --outage --size 4 --pause 0.3", environment: [parts[0]: parts[1]])
        try await program.wait(upTo: .seconds(90))
        #expect(program.status == 0, "\(program.output) \(program.errors)")
        for line in [
            "The cable is pulled.", "The cable is back.", "The server is killed", "The server is started again.",
            "it goes on from ", "✔ 4.0 MB in ", "never begun anew", "✔ sha256 ",
        ] {
            #expect(program.output.contains(line), "\(line)")
        }
        let times = program.output.firstMatch(of: /, resumed ([0-9]+) times,/).flatMap { Int($0.1) }
        #expect(times.map { $0 >= 3 } == true, "\(program.output)")
        #expect(!program.output.contains("\u{1B}"))
        try await eventually("all processes have gone") { Self.processes(with: mark) == 0 }
    }

    @Test(arguments: [SIGINT, SIGKILL])
    func whateverEndsAnOutageNothingIsLeft(signal: CInt) async throws {
        let mark = "UPLINK_TEST_MARK=\(UUID())"
        let parts = mark.split(separator: "=").map(String.init)
        let program = try start("demo --outage --size 4 --pause 60", environment: [parts[0]: parts[1]])
        try await program.waitForOutput("it waits for the network")
        #expect(Self.processes(with: mark) >= 3)  // the screen, the cable's keeper and the server
        program.signal(signal)
        #expect(try await program.wait() == 128 + signal)
        try await eventually("all processes have gone") { Self.processes(with: mark) == 0 }
        // The directory of the download was in memory, and seen by these processes alone.
        #expect(!FileManager.default.fileExists(atPath: "/mnt/disk.img"))
    }

    @Test func whereNamespacesAreNotPermittedItSaysSoAndUsesTheHostsNetwork() async throws {
        let script = "echo 0 >/proc/sys/user/max_net_namespaces && exec \(BuiltProgram.path) demo"
        let program = try RunningProgram(["/usr/bin/unshare", "-Ur", "/bin/sh", "-c", script])
        #expect(try await program.wait() == 0)
        #expect(program.errors.contains("runs on this host's network"))
        #expect(program.output.contains("http://127.0.0.1:"))
        #expect(program.output.contains("PNG picture"))
    }

    @Test func aURLOfOnesOwnIsLoadedOverTheHostsNetwork() async throws {
        try await PictureServer.withServer(address: "127.0.0.1", scenario: .online) { port in
            let shown = try await BuiltProgram.run("demo http://127.0.0.1:\(port)/picture.png")
            #expect(shown.status == 0)
            let absent = try await BuiltProgram.run("demo http://127.0.0.1:\(port)/nothing.png")
            #expect(absent.status == 1)
            #expect(absent.output.contains("404"))
        }
    }

    /// How many processes have the mark in their environment.
    private static func processes(with mark: String) -> Int {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.filter { entry in
            guard Int(entry) != nil, let environment = FileManager.default.contents(atPath: "/proc/\(entry)/environ")
            else { return false }
            return environment.range(of: Data(mark.utf8)) != nil
        }.count
    }
}
