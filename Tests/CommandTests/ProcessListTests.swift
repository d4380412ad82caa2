// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UplinkCore

@testable import UplinkCommand

/// What ps(1) shows of the program's words.
@Suite(.timeLimit(.minutes(1)))
struct ProcessListTests {
    @Test(arguments: [
        ("get -u me:secret url", ["me:secret"]), ("get -ume:secret", ["me:secret"]), ("get -u me http://a/", []),
        ("get --user=me:secret --proxy=http://me:pw@a/", ["me:secret", "http://me:pw@a/"]),
        ("get --user me:secret --proxy socks5://a:1", ["me:secret", "socks5://a:1"]),
        ("get -su me:secret -xhttp://b:1/ -x http://a:2/", ["me:secret", "http://b:1/", "http://a:2/"]),
        ("get --user", []), ("get --users me:secret", []), ("get http://a/u:b -o x:y", []),
        ("get -oindex -u me:secret", ["me:secret"]), ("get -Tmenu -u me:secret", ["me:secret"]),
    ])
    func valuesWithAPasswordAreFound(line: String, secrets: [String]) {
        let words = line.utf8.map { $0 == UInt8(ascii: " ") ? 0 : $0 } + [0]
        #expect(ProcessList.secrets(in: words).map { String(decoding: words[$0], as: UTF8.self) } == secrets)
    }

    @Test func aPasswordIsSentAndNotShown() async throws {
        let head = Locked<String?>(nil)
        let server = try RawServer([
            .answer { text in
                head.withLock { $0 = text }
                return []
            }, .waitForClose,
        ])
        defer { server.stop() }
        let program = try BuiltProgram.start("get -u me:secret \(server.url())")
        try await eventually { head.withLock { $0 != nil } }
        #expect(head.withLock { $0?.contains("Basic bWU6c2VjcmV0") == true })
        let words = FileManager.default.contents(atPath: "/proc/\(program.id)/cmdline") ?? Data()
        let shown = String(decoding: words, as: UTF8.self)
        #expect(shown.contains(server.url()) && !shown.contains("secret") && !shown.contains("me:"))
        program.signal(SIGTERM)
        try await program.wait()
    }
}
