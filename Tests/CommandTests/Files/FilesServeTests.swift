// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkTesting

@testable import UplinkCommand

#if !Store  // the plain program: with the store, these are still to be tried
/// The command `uplink files serve`: its faults, its place, its end.
@Suite(.timeLimit(.minutes(2)))
struct FilesServeTests {
    @Test func failDropAndSlowDoAsTheySay() async throws {
        try await FilesPrograms.with("--fail 1") { site in
            for words in ["me", "ls"] {
                let program = try await site.run(words, status: 1)
                #expect(program.errors.contains("503"))
            }
        }
        try await FilesPrograms.with("--fail 2") { site in
            try await site.run("me")
            try await site.run("me", status: 1)
            try await site.run("me")
        }
        try await FilesPrograms.with("--drop 1") { site in
            let program = try await site.run("me", status: 1)
            #expect(program.errors.contains("could not log in"))
        }
        try await FilesPrograms.with("--slow 0.3") { site in
            let start = ContinuousClock.now
            try await site.run("me")
            #expect(ContinuousClock.now - start >= .milliseconds(300))
        }
    }

    @Test func aTakenPortIsToldWithTheReason() async throws {
        try await FilesPrograms.with { site in
            let port = try #require(site.url.split(separator: ":").last)
            let second = try site.start("serve --port \(port)")
            #expect(try await second.wait() == 1)
            #expect(second.errors.contains("Address already in use") && second.errors.contains("--port"))
            #expect(second.output.isEmpty)
            try await site.run("me")
        }
    }

    @Test func anAddressIsOneOrLocalhost() async throws {
        for address in ["nonsense", "", "[::1", "[localhost]"] {
            let program = try RunningProgram([BuiltProgram.path, "files", "serve", "--address", address])
            #expect(try await program.wait() == 64, "\(address)")
            #expect(program.errors.contains("give an IPv4 or IPv6 address"), "\(program.errors)")
        }
        for (address, host) in [("localhost", "127.0.0.1"), ("[::1]", "[::1]")] {
            let server = try BuiltProgram.start("files serve --address \(address)")
            try await server.waitForOutput("password ")
            #expect(server.output.hasPrefix("http://\(host):"), "\(server.output)")
            server.signal(SIGINT)
            #expect(try await server.wait() == 130)
        }
    }

    @Test func withoutDescriptorsForItsClientsItEndsAndSaysSo() async throws {
        let server = try RunningProgram(
            ["/bin/sh", "-c", "ulimit -n 48; exec \"$0\" files serve", BuiltProgram.path])
        try await server.waitForOutput("password ")
        let line = try #require(server.output.split(separator: "\n").first)
        let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
        var clients: [CInt] = []
        defer { for client in clients { close(client) } }
        // They say nothing, and stay.
        try await eventually(within: .seconds(30), "it ends; \(server.output)\(server.errors)") {
            if clients.count < 100 { clients.append(Self.connect(to: port)) }
            return server.status != nil
        }
        #expect(server.status == 1)
        #expect(server.errors.contains("cannot go on") && server.errors.contains("ulimit -n"), "\(server.errors)")
    }

    @Test(.enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0))
    func aFolderThatCannotBeReadIsLeftOutAndTheTopIsTold() async throws {
        let home = try TemporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: home.path.string) }
        try home.write("note", [1])
        #expect(mkdir("\(home.path)/closed", 0) == 0)
        // root reads anything, but for this
        let start = ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search", BuiltProgram.path]
        let server = try RunningProgram(start + ["files", "serve", home.path.string])
        try await server.waitForOutput("password ")
        try await eventually("it says what is left out; \(server.errors)") {  // the two pipes are read in any order
            server.errors == "1 file or folder is not served.\n"
        }
        server.signal(SIGINT)
        #expect(try await server.wait() == 130)
        let refused = try RunningProgram(start + ["files", "serve", "\(home.path)/closed"])
        #expect(try await refused.wait() == 1)
        #expect(refused.errors == "Error: `\(home.path)/closed` is not a folder that can be read\n")
    }

    @Test func anUploadHasThePermissionsThatTheUmaskLeaves() async throws {
        let (home, served) = (try TemporaryDirectory(), try TemporaryDirectory())
        defer {
            for directory in [home, served] { try? FileManager.default.removeItem(atPath: directory.path.string) }
        }
        try home.write("password", Array("secret".utf8))
        let options = "--user me --password-file \(home.path)/password"
        let line = "umask 027; exec \(BuiltProgram.path) files serve \(served.path) \(options)"
        let server = try RunningProgram(["/bin/sh", "-c", line])
        try await server.waitForOutput("\n")
        let url = String(try #require(server.output.split(separator: "\n").first))
        let put = try await BuiltProgram.run(
            "files put \(home.path)/password /new --server \(url) \(options)",
            environment: ["XDG_CONFIG_HOME": home.path.string])
        #expect(put.status == 0, "\(put.errors)")
        var status = stat()
        #expect(stat("\(served.path)/new", &status) == 0 && status.st_mode & 0o777 == 0o640)
        server.signal(SIGINT)
        #expect(try await server.wait() == 130)
    }

    private static func connect(to port: UInt16) -> CInt {
        // Not to wait where nobody accepts any more.
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let client = socket(AF_INET, CInt(kind), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        _ = withUnsafeBytes(of: &address) { bytes in
            Glibc.connect(
                client, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        return client
    }

    @Test func withoutAPasswordOneIsMadeUp() async throws {
        let server = try BuiltProgram.start("files serve")
        try await server.waitForOutput("password ")
        let lines = server.output.split(separator: "\n")
        let password = try #require(lines.last?.split(separator: " ").last)
        #expect(password.count == 16)
        let home = try TemporaryDirectory()
        defer { home.remove() }
        try home.write("password", Array(password.utf8))
        let words = "files me --server \(lines[0]) --user demo --password-file \(home.path)/password"
        #expect(try await BuiltProgram.run(words, environment: ["XDG_CONFIG_HOME": home.path.string]).status == 0)
    }
}
#endif
