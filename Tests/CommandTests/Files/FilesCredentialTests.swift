// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import TestSupport
import Testing
import UplinkTesting

@testable import UplinkCommand

#if !Store  // the plain program: with the store, these are still to be tried
/// A password is for its server alone, and nowhere to be seen.
@Suite(.timeLimit(.minutes(2)))
struct FilesCredentialTests {
    /// The password as it is, and as it is sent (RFC 7617).
    private static let secrets = [
        FilesPrograms.password, Data("\(FilesPrograms.user):\(FilesPrograms.password)".utf8).base64EncodedString(),
    ]

    private func expectNoSecret(in text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        for secret in Self.secrets { #expect(!text.contains(secret), sourceLocation: sourceLocation) }
    }

    /// What every user, or the process's own, can read of a process.
    private func whatShows(of process: pid_t) throws -> String {
        try ["cmdline", "environ", "comm"].map { name in
            String(decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/\(process)/\(name)")), as: UTF8.self)
        }.joined()
    }

    @Test func neitherListsOfProcessesNorOutputsShowThePassword() async throws {
        let holding = try HoldingServer()
        defer { holding.server.stop() }
        try await FilesPrograms.with { site in
            let client = try site.start("cat /file \(site.options(for: holding.server.url("")))")
            try await eventually(within: .seconds(30), "the client is at work: \(client.errors)") {
                client.outputBytes.count == HoldingServer.sent
            }
            let sent = try #require(holding.server.heads.last)
            #expect(Self.secrets.contains { sent.contains("Authorization: Basic \($0)") })
            for process in [client.id, site.server.id] {
                let shown = try whatShows(of: process)
                #expect(shown.contains("files"))
                expectNoSecret(in: shown)
            }
            client.signal(SIGINT)
            #expect(try await client.wait() == 130)

            var outputs = [client]
            outputs += [try await site.run("login"), try await site.run("me --json"), try await site.run("ls --json")]
            outputs.append(try await site.run("cat /none", status: 1))
            try site.home.write("other", Array("wrong-\(FilesPrograms.password)\n".utf8))
            let wrong = try site.start("me --server \(site.url) --user me --password-file \(site.home.path)/other")
            #expect(try await wrong.wait() == 1)
            #expect(wrong.errors.contains("wrong user or password"))
            let refused = try site.start("me \(site.options(for: "http://127.0.0.1:1"))")
            #expect(try await refused.wait() == 1)
            for program in outputs + [wrong, refused, site.server] {
                expectNoSecret(in: program.output + program.errors)
            }
        }
    }

    @Test func aRedirectToAnotherHostCarriesNothingThere() async throws {
        let other = try RawServer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 2", body: "{}")
        defer { other.stop() }
        let first = try RawServer(
            answering: "HTTP/1.1 302 Found\r\nLocation: \(other.url("/me"))\r\nContent-Length: 0")
        defer { first.stop() }
        try await FilesPrograms.with { site in
            for words in ["me", "ls /", "cat /file", "get /file \(site.home.path)/new"] {
                let program = try site.start("\(words) \(site.options(for: first.url("")))")
                #expect(try await program.wait() == 1)
                #expect(program.errors.contains("302"))
                expectNoSecret(in: program.output + program.errors)
            }
        }
        #expect(first.heads.allSatisfy { $0.contains("Authorization: Basic ") } && first.heads.count >= 4)
        #expect(other.connections.isEmpty)
    }

    @Test func whatIsKeptIsForItsServerAndItsOwnerAloneAndOnlyWhenAsked() async throws {
        let other = try RawServer(answering: "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0")
        defer { other.stop() }
        try await FilesPrograms.with { site in
            try await site.run("login")
            #expect(!site.settings.names.contains("uplink"))
            try await site.run("login --keep")
            let folder = "\(site.settings.path)/uplink"
            for (path, mode) in [(folder, 0o700), ("\(folder)/files.json", 0o600)] {
                let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(found == mode, "\(path)")
            }
            #expect(try await site.start("me").wait() == 0)
            let again = try site.start("login")  // perhaps the password is another one now
            #expect(try await again.wait() == 1)
            #expect(again.errors.contains("--password-file"), "\(again.errors)")
            let elsewhere = try site.start("me --server \(other.url("")) --user me")
            #expect(try await elsewhere.wait() == 1)
            #expect(elsewhere.errors.contains("--password-file"))
            let somebodyElse = try site.start("me --user you")
            #expect(try await somebodyElse.wait() == 1)
            #expect(other.connections.isEmpty)
            #expect(try await site.start("logout").wait() == 0)
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/files.json"))
        }
    }
}
#endif
