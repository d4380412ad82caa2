// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct UsageTests {
    /// The words of a command line come from there. Without them the overview would be shown, with status 0, as if what
    /// was asked for were done.
    @Test(.needsNetworkNamespaces, arguments: ["wait --timeout 1", "run --within 1 -- touch /tmp/never", ""])
    func withoutProcItRefuses(words: String) async throws {
        let program = try RunningProgram([
            "/usr/bin/unshare", "--mount", "/bin/sh", "-c", "umount -l /proc && exec \(BuiltProgram.path) \(words)",
        ])
        #expect(try await program.wait() == 64)
        #expect(program.errors.contains("/proc"))
    }

    @Test(arguments: [
        "frobnicate", "--frobnicate", "wait --timeout -1", "wait --timeout=-1", "wait --timeout=nan",
        "wait --timeout=-nan",
        "wait --timeout", "wait --timeout=soon", "wait --timeout= ", "wait --for=foo", "wait --for=kind=car",
        "wait --for=interface=", "wait --for=kind=", "wait surplus", "run -- true", "run --within 1",
        "run --within 1 --",
        "run --within=-1 -- true", "run --within 1 true", "run --within 1 --for x -- true", "get", "get example.org",
        "get -O http://localhost/", "get http://localhost/a --checksum md5:00 -O", "demo --size 4",
        "demo --outage --scenario late", "get ftp://example.org/", "get http://", "get http://user:secret@example.org/",
        "get http://host:99999/",
        "get http://[::1/", "get http://a b/", "get http://localhost/ --within=never", "get http://localhost/ --force",
        "get http://localhost/ --output=", "get http://localhost/ --for wrong", "get http://a/ http://b/",
        "get http://a/ http://b/ -o x -o -",
        "watch --count 0", "wait --for=ipv4,", "wait --for=,", "wait --for=stable:soon", "wait --for=stable:-1",
        "wait --for=destination:", "wait --for=destination:example.org",
        "wait --for=destination:1.1.1.1,destination:2.2.2.2", "wait --for=destination:1.1.1.1,internet",
        "wait --for=ipv6,destination:1.1.1.1",
        "wait --for=interface:", "wait --for=interface:wired-in-the-hall", "wait --for=interface:eth0:1",
        "wait --for=interface:..", "wait --for=ipv4;ipv6", "watch --family 5",
        "watch --validate ftp://x/", "watch --validate tcp:host:9", "watch --validate tcp://host",
        "watch --validate tcp://host:99999", "watch --validate tcp://host:81?a", "watch --validate tcp://:1",
        "watch --destination example.org", "watch --destination 224.0.0.1", "watch --poll 0", "watch --poll 0.01",
        "watch --settle 301", "watch --settle inf", "watch --poll inf", "watch --destination 10.1.2.3 --family 6",
        "watch --settle=-1", "watch --destination 10.1.2.3 --validate http://localhost/",
        "watch --count=-1", "watch --count=99999999999999999999", "watch --josn", "demo --scenario never",
        "demo gopher://x/",
        "demo http://localhost/ --scenario late",
    ])
    func wrongUsageExits64AndSaysWhatIsWrong(words: String) async throws {
        let program = try await BuiltProgram.run(words)
        #expect(program.status == 64)
        #expect(program.errors.hasPrefix("Error: "))
        #expect(program.errors.contains("uplink"))  // the usage, or where to find it
        #expect(program.output.isEmpty)
    }

    @Test func aWordThatIsNotInUTF8IsNotTakenForAnother() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for words in [
            "get http://127.0.0.1:1/ -o \(directory.path)/$'caf\\xe9'", "files ls -- $'caf\\xe9'",
            "run --within 0 --for $'caf\\xe9' -- true",
        ] {
            let program = try RunningProgram(["/bin/bash", "-c", "exec \(BuiltProgram.path) \(words)"])
            #expect(try await program.wait() == 64, "\(words)")
            #expect(program.errors.hasPrefix("Error: argument ") && program.errors.contains("is not in UTF-8"))
        }
        #expect(directory.names.isEmpty)
        let words = "get -u $'me:p\\xe4ss' http://a/"
        let secret = try RunningProgram(["/bin/bash", "-c", "exec \(BuiltProgram.path) \(words)"])
        #expect(try await secret.wait() == 64)
        #expect(secret.errors.contains("argument 3") && !secret.errors.contains("me:"), "\(secret.errors)")
    }

    @Test(arguments: ["0", "-5", "none", "1", "26"]) func helpIsWideEnoughForItsWords(columns: String) async throws {
        for words in [["get", "--help"], ["run", "--help"]] {
            let program = try RunningProgram(["/usr/bin/env", "COLUMNS=\(columns)", BuiltProgram.path] + words)
            #expect(try await program.wait() == 0, "\(program.errors)")
            #expect(program.output.contains("Show help"))
        }
        // What another program is given stays as it is.
        let line = "run --within 0 --for destination:127.0.0.1 -- printenv COLUMNS"
        let words = line.split(separator: " ").map(String.init)
        let child = try RunningProgram(["/usr/bin/env", "COLUMNS=\(columns)", BuiltProgram.path] + words)
        #expect(try await child.wait() == 0, "\(child.errors)")
        #expect(child.output == "\(columns)\n")
    }

    /// A stranger may have named a file so, which the shell puts into the command line.
    @Test(arguments: [
        "files put a b c\u{1B}[31m", "get -F c\u{1B}[31m http://127.0.0.1:1/",
        "run --within 0 --for destination:127.0.0.1 -- /no/such/c\u{1B}[31m",
    ])
    func namesAreShownWithoutWhatATerminalWouldInterpret(words: String) async throws {
        let program = try await BuiltProgram.run(words)
        #expect(program.status != 0)
        #expect(program.errors.contains("c\u{FFFD}[31m") && !program.errors.contains("\u{1B}"), "\(program.errors)")
    }

    /// Any other status would be that of the program to start. One loop is made at the start, another for signals.
    @Test(arguments: [4, 10, 16])
    func runWithoutDescriptorsExits125(limit: Int) async throws {
        let line = "ulimit -n \(limit); exec \"$0\" run --within 0 -- true"
        let program = try RunningProgram(["/bin/sh", "-c", line, BuiltProgram.path])
        #expect(try await program.wait() == 125, "\(program.errors)")
        #expect(program.errors.hasPrefix("Error: ") && program.errors.contains("ulimit -n"), "\(program.errors)")
    }

    @Test func unknownRequirementsGetTheListOfKnownOnes() async throws {
        let program = try await BuiltProgram.run("wait --for satellite")
        for known in [
            "internet", "ipv4", "ipv6", "both", "local", "unmetered", "interface:NAME", "kind:KIND", "wifi",
            "stable:SECONDS", "destination:ADDRESS",
        ] {
            #expect(program.errors.contains(known))
        }
    }

    @Test(arguments: ["--help", "help", "demo --help", "get --help", "watch --help", "wait --help", "run --help"])
    func helpTeachesByExamples(words: String) async throws {
        let program = try await BuiltProgram.run(words)
        #expect(program.status == 0)
        #expect(program.output.contains("\n  uplink "))
        #expect(program.output.contains("Exit status"))
        #expect(!program.output.contains("demo-server"))
        #expect(program.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test func theVersionIsTold() async throws {
        let program = try await BuiltProgram.run("--version")
        #expect(program.status == 0)
        #expect(program.output == "1.0.0-beta.1\n")
    }

    @Test(arguments: ["--version", "--help", "help get"])
    func whatCannotBeToldIsAFailure(words: String) async throws {
        let program = try RunningProgram(["/bin/sh", "-c", "exec \(BuiltProgram.path) \(words) >/dev/full"])
        #expect(try await program.wait() == 1)
        #expect(program.errors.contains("No space left on device"))
    }
}
