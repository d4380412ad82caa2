// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkTesting

/// The real program in a shell's background (`&`), on a pseudo-terminal.
@Suite(.timeLimit(.minutes(1)), .serialized, .needsNetworkNamespaces)
struct JobControlTests {
    /// Starts a job in the background, says when it is stopped, and brings it to the foreground after a line of input.
    private static let background = """
        "$0" "$@" &
        until grep -q '^State:.T' /proc/$!/status; do sleep 0.02; done
        stty -a | grep -q -- ' -echo ' && echo without echo
        echo it is stopped
        read
        fg
        """

    private func start(_ words: String) async throws -> RunningProgram {
        let program = try start(words, in: Self.background)
        try await program.waitForOutput("it is stopped", upTo: .seconds(20))
        return program
    }

    /// Starts a shell with job control, to which the program and its words are `"$0" "$@"`.
    private func start(_ words: String, in shell: String) throws -> RunningProgram {
        try RunningProgram(
            ["/bin/bash", "-mc", shell, BuiltProgram.path] + words.split(separator: " ").map(String.init),
            environment: ["TERM": "xterm-256color"], terminal: TerminalDimensions(columns: 80, rows: 30))
    }

    @Test func aPasswordIsAskedForInTheForeground() async throws {
        let server = try RawServer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 5", body: "right")
        defer { server.stop() }
        let program = try await start("get -u me \(server.url())")
        #expect(!program.output.contains("Password") && !program.output.contains("without echo"), "\(program.output)")
        try program.type("\r")
        try await program.waitForOutput("Password for me: ")
        try program.type("secret\r")
        #expect(try await program.wait() == 0)
        #expect(program.output.contains("right") && !program.output.contains("secret"))
        #expect(server.heads.first?.contains("Authorization: Basic bWU6c2VjcmV0\r\n") == true)
        #expect(program.terminalSettings.map { $0.c_lflag & tcflag_t(ECHO) } == tcflag_t(ECHO))
    }

    @Test func aScreenIsShownInTheForeground() async throws {
        let program = try await start("demo --scenario online")
        #expect(!program.output.contains("\u{1B}[?1049h"), "\(program.output)")
        try program.type("\r")
        try await program.waitForOutput("PNG picture")
        try program.type("q")
        #expect(try await program.wait() == 0)
        #expect(program.output.contains("\u{1B}[?1049h"))
        let modes = program.terminalSettings.map { $0.c_lflag & tcflag_t(ICANON | ECHO | ISIG) }
        #expect(modes == tcflag_t(ICANON | ECHO | ISIG))
    }

    /// With Ctrl-Z, which lets the program leave its screen, and with a signal that does not.
    @Test(arguments: ["\u{1A}", "STOP", "TSTP"])
    func aStoppedProgramGivesTheTerminalBackAndTakesItAgain(_ how: String) async throws {
        let shell = """
            /bin/bash -c 'echo "number $$."; exec "$0" "$@"' "$0" "$@"
            stty -a | grep -q -- ' -icanon' || echo as before
            stty sane
            echo it is stopped
            read
            fg
            echo over
            """
        let program = try start("demo --scenario online", in: shell)
        try await program.waitForOutput("PNG picture")
        if how == "\u{1A}" {
            try program.type(how)
        } else {
            let word = try #require(program.output.firstMatch(of: /number ([0-9]+)\./))
            kill(try #require(pid_t(word.1)), how == "STOP" ? SIGSTOP : SIGTSTP)
        }
        try await program.waitForOutput("it is stopped", upTo: .seconds(20))
        let stopped = program.output
        #expect(stopped.contains("as before") == (how != "STOP"), "\(stopped)")
        #expect(stopped.contains("\u{1B}[?1049l") == (how != "STOP"), "\(stopped)")
        try program.type("\r")
        try await eventually("the screen is entered and drawn again") {
            program.output.dropFirst(stopped.count).contains(/\u{1B}\[\?1049h.*PNG picture/.dotMatchesNewlines())
        }
        try program.type("q")  // a key without Enter
        #expect(try await program.wait() == 0)
        #expect(program.output.hasSuffix("over\r\n"))
        let modes = program.terminalSettings.map { $0.c_lflag & tcflag_t(ICANON | ECHO | ISIG) }
        #expect(modes == tcflag_t(ICANON | ECHO | ISIG))
    }

    @Test func aStoppedProgramCanBeEnded() async throws {
        let shell = """
            "$0" "$@"
            kill %1
            # The shell itself has to hear that it goes on.
            while [ -n "$(jobs -s)" ]; do sleep 0.02; done
            wait %1
            echo "it ended with $?"
            """
        let program = try start("demo --scenario online", in: shell)
        try await program.waitForOutput("PNG picture")
        try program.type("\u{1A}")
        try await program.waitForOutput("it ended with 143", upTo: .seconds(20))
        #expect(program.output.ranges(of: "\u{1B}[?1049l").count == 1, "\(program.output)")
    }

    /// In the background from the start, and perhaps resumed there.
    @Test(arguments: ["", "bg; sleep 0.1; until grep -q '^State:.T' /proc/$!/status; do sleep 0.02; done"])
    func whatIsStoppedInTheBackgroundCanBeEnded(_ resume: String) async throws {
        let shell = """
            "$0" "$@" &
            until grep -q '^State:.T' /proc/$!/status; do sleep 0.02; done
            \(resume)
            kill %1
            while [ -n "$(jobs -s)" ]; do sleep 0.02; done
            wait $!
            echo "it ended with $?"
            """
        let program = try start("demo --scenario online", in: shell)
        try await program.waitForOutput("it ended with 143", upTo: .seconds(20))
        #expect(!program.output.contains("\u{1B}[?1049h"), "\(program.output)")
    }

    /// Nobody could resume it.
    @Test(arguments: [
        ("get -u me http://127.0.0.1:1/", "cannot be asked for in the background"),
        ("demo --scenario online", "run this one in the foreground"),
    ])
    func whereNoShellWaitsThereIsAnError(_ words: String, _ message: String) async throws {
        let shell = """
            trap 'exit 7' USR1
            (set -m; { "$0" "$@" </dev/tty; kill -USR1 $$; } &)
            while :; do sleep 0.02; done
            """
        let program = try RunningProgram(
            ["/bin/bash", "-c", shell, BuiltProgram.path] + words.split(separator: " ").map(String.init),
            terminal: TerminalDimensions(columns: 80, rows: 30))
        #expect(try await program.wait() == 7)
        #expect(program.output.contains(message), "\(program.output)")
        #expect(!program.output.contains("Password") && !program.output.contains("\u{1B}[?1049h"))
    }
}
