// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import TestSupport
import Testing
import UplinkTesting

@testable import UplinkCommand

#if !Store  // the plain program: with the store, these are still to be tried
/// The real `uplink files` in a pseudo-terminal, with its real server: from login to an outage and back.
@Suite(.timeLimit(.minutes(4)), .serialized)
struct FilesTerminalTests {
    /// The program's screens, and what it needs.
    private struct Session: Sendable {
        let program: RunningProgram
        let home: TemporaryDirectory

        /// What stands on the terminal now, without looks: what was written since the last frame began.
        var screen: String {
            let frame = program.output.components(separatedBy: "\u{1B}[H").last ?? ""
            return frame.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "")
        }

        /// Waits until the screen is as it should be.
        func see(_ texts: String..., not absent: String...) async throws {
            try await eventually(
                within: .seconds(60), "\(texts) without \(absent) on the screen, instead of:\n\(screen)"
            ) {
                let screen = screen
                return texts.allSatisfy(screen.contains) && !absent.contains(where: screen.contains)
            }
        }

        func type(_ keys: String) throws { try program.type(keys) }

        func logIn() async throws {
            try await see("Password")
            try type("\(FilesPrograms.password)\r")
        }

        func expectRestoredTerminal() {
            #expect(program.output.contains("\u{1B}[?1049h"))
            #expect(program.output.contains("\u{1B}[?25h\u{1B}[?1049l"))
            let modes = program.terminalSettings.map { $0.c_lflag & tcflag_t(ICANON | ECHO | ISIG) }
            #expect(modes == tcflag_t(ICANON | ECHO | ISIG))
            #expect(!program.output.contains(FilesPrograms.password))
        }
    }

    private static let left = "\u{1B}[D"

    /// Runs `body` with a home directory, and a folder with a picture and a text to serve.
    private func withHome(
        _ body: (_ home: TemporaryDirectory, _ served: TemporaryDirectory) async throws -> Void
    ) async throws {
        let (home, served) = (try TemporaryDirectory(), try TemporaryDirectory())
        defer {
            for directory in [home, served] { try? FileManager.default.removeItem(atPath: directory.path.string) }
        }
        try home.write("password", Array("\(FilesPrograms.password)\n".utf8))
        try served.write("cat.png", DemoPicture.file)
        try served.write("notes.txt", Array("first line\nlast line\n".utf8))
        try await body(home, served)
    }

    private func serve(
        _ served: TemporaryDirectory, _ home: TemporaryDirectory, _ words: String, in place: NetworkNamespace? = nil
    ) async throws -> RunningProgram {
        let server = try BuiltProgram.start(
            "files serve \(served.path) --user me --password-file \(home.path)/password \(words)", in: place)
        try await server.waitForOutput("\n")
        return server
    }

    private func open(
        _ url: String, _ home: TemporaryDirectory, in place: NetworkNamespace? = nil
    ) throws -> Session {
        let environment = [
            "HOME": home.path.string, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "",
            "XDG_CACHE_HOME": "", "TERM": "xterm-256color", "COLORTERM": "", "NO_COLOR": "",
        ]
        let program = try BuiltProgram.start(
            "files --server \(url) --user me", in: place, environment: environment,
            terminal: TerminalDimensions(columns: 80, rows: 24))
        return Session(program: program, home: home)
    }

    @Test func fromLoginToAnOutageAndBack() async throws {
        try await withHome { home, served in
            let port = try FreePort.take()
            let server = try await serve(served, home, "--port \(port)")
            let session = try open("http://127.0.0.1:\(port)", home)

            try await session.see("Log in", "Password")
            try session.type("wrong\r")
            try await session.see("wrong user or password")
            try session.type("\u{15}\(FilesPrograms.password)\r")
            try await session.see("cat.png", "notes.txt", "2 items", "Demo User")

            try session.type("\r")
            try await session.see("PNG picture, 192 × 120 pixels")
            #if Pictures
            try await session.see("▄")
            #endif
            try session.type(Self.left)
            try await session.see("2 items")
            try session.type("j\r")
            try await session.see("first line", "last line", "› notes.txt")
            try session.type(Self.left)
            try await session.see("2 items")

            try session.type("n")
            try await session.see("New folder:")
            try session.type("Über uns\r")
            try await session.see("Über uns is there", "Über uns/")
            try session.type("\r")
            try await session.see("Files › Über uns", "Nothing is in this folder")
            try home.write("new.txt", Array("new".utf8))
            try session.type("u")
            try await session.see("Upload the file:")
            try session.type("~/new.txt\r")
            try await session.see("new.txt is there", "3 bytes")
            #expect(served.names == ["cat.png", "notes.txt", "Über uns"])
            try session.type("d")
            try await session.see("Delete “new.txt”?")
            try session.type("y")
            try await session.see("new.txt is deleted", "Nothing is in this folder")
            try session.type(Self.left)
            try await session.see("cat.png", "notes.txt", "Über uns/")

            server.signal(SIGINT)
            #expect(try await server.wait() == 130)
            try session.type("r")
            try await eventually(within: .seconds(60), "the outage is told:\n\(session.screen)") {
                session.screen.contains("✗") || session.screen.contains("tored")
            }
            try await session.see("cat.png", "notes.txt", "Über uns/")
            let again = try await serve(served, home, "--port \(port)")
            try session.type("r")
            try await session.see("cat.png", "3 items", "Demo User", not: "✗", "tored")

            try session.type("q")
            #expect(try await session.program.wait() == 0)
            session.expectRestoredTerminal()
            again.signal(SIGINT)
            #expect(try await again.wait() == 130)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func aSignalRestoresTheTerminalWhateverIsSeen(signal: CInt) async throws {
        try await withHome { home, served in
            let server = try await serve(served, home, "")
            let session = try open(String(server.output.split(separator: "\n")[0]), home)
            try await session.logIn()
            try await session.see("2 items")
            session.program.resize(to: TerminalDimensions(columns: 40, rows: 12))
            try await session.see("2 items", "notes.txt", not: "2026")
            try session.type("\r")
            try await session.see("PNG picture")
            session.program.signal(signal)
            #expect(try await session.program.wait() == 128 + signal)
            session.expectRestoredTerminal()
        }
    }

    @Test(.needsNetworkNamespaces) func aPulledCableIsToldAndTheFolderIsFreshWhenItIsBack() async throws {
        try await withTestNetwork { network in
            try await withHome { home, served in
                let server = try await serve(served, home, "--address 192.0.2.1 --port 8080", in: network.router)
                let session = try open("http://192.0.2.1:8080", home, in: network.device)
                try await session.logIn()
                try await session.see("2 items", "cat.png")
                // Somebody else makes a folder, of which this screen does not hear.
                let other = try TemporaryDirectory()
                defer { try? FileManager.default.removeItem(atPath: other.path.string) }
                let options = "--server http://192.0.2.1:8080 --user me --password-file \(home.path)/password"
                let made = try await BuiltProgram.run(
                    "files mkdir /new \(options)", in: network.device,
                    environment: ["HOME": other.path.string, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": ""])
                #expect(made.status == 0, "\(made.errors)")
                try network.cableOut()
                try await session.see("No network", "cat.png", not: "new/")
                try network.cableIn()
                try await session.see("new/", "3 items", not: "No network")
                try session.type("q")
                #expect(try await session.program.wait() == 0)
                session.expectRestoredTerminal()
                server.signal(SIGINT)
                #expect(try await server.wait() == 130)
            }
        }
    }
}
#endif
