// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkTesting

@testable import Uplink

/// Disks that are full or must not be written to, in mount namespaces of a program's own: errors at once, none tried
/// again.
@Suite(.timeLimit(.minutes(1)), .needsNetworkNamespaces)
struct DownloadDiskTests {
    private static let content = DownloadScene.content(2_000_000)

    /// Runs the program with a shell around it, in a mount namespace where `$D` is a directory to mount on.
    private func run(_ shell: String, _ body: (_ server: FileServer, _ program: RunningProgram) throws -> Void)
        async throws
    {
        let server = try FileServer(Self.content)
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let program = try RunningProgram(
            ["/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", shell],
            environment: [
                "D": directory.path.string,
                "GET": "\(BuiltProgram.path(of: "DownloadVictim")) \(server.url()) \(directory.path)/f 30",
            ])
        try await program.wait()
        try body(server, program)
    }

    @Test func aFullDiskEndsItAndWhatCameIsKept() async throws {
        let room = "$(( $(stat -c %s $D/.f.uplink-part) > 500000 ))"
        try await run(
            """
            mount -t tmpfs -o size=1m,mode=700 none $D && $GET; echo status $?, kept \(room)
            mount -o remount,size=10m $D && $GET; ls -A $D
            """
        ) { server, program in
            #expect(program.output.contains("failed diskFull errno \(ENOSPC)"), "\(program.output)\(program.errors)")
            #expect(program.output.contains("make room"))
            #expect(program.output.contains("status 1, kept 1"))
            #expect(program.output.contains("resumptions 1\nf\n"))
            #expect(server.requests.count == 2)
        }
    }

    @Test func aReadOnlyDiskEndsItAtOnce() async throws {
        try await run("mount -t tmpfs -o ro none $D && $GET") { server, program in
            #expect(program.output.contains("failed notWritable errno \(EROFS)"), "\(program.output)\(program.errors)")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func aDirectoryOfOthersEndsItAtOnce() async throws {
        // Root without the capability to write everywhere.
        let words = "chown 65534 $D && chmod 555 $D && setpriv --bounding-set=-dac_override $GET"
        try await run("mount -t tmpfs none $D && \(words)") { server, program in
            #expect(program.output.contains("failed notWritable errno \(EACCES)"), "\(program.output)\(program.errors)")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func theFileOfAnotherUserStays() async throws {
        // Root without the capability to pass over permissions, in a directory for all: it could remove the file.
        let words = "printf x >$D/.f.uplink-part && chmod 600 $D/.f.uplink-part && chown 65534 $D/.f.uplink-part"
        let caps = "-dac_override,-dac_read_search"
        try await run("mount -t tmpfs none $D && \(words) && setpriv --bounding-set=\(caps) $GET; ls -A $D") {
            server, program in
            #expect(program.output.contains("failed notWritable errno \(EACCES)"), "\(program.output)\(program.errors)")
            #expect(program.output.contains("somebody else"))
            #expect(program.output.hasSuffix(".f.uplink-part\n"))
            #expect(server.requests.isEmpty)
        }
    }

    /// Another user replaces root's file in a directory for everybody.
    private func replacing(_ options: String = "") -> String {
        "mount -t tmpfs -o mode=1777 none $D && cp ${GET%% *} $D/victim && chmod 755 $D/victim && printf x >$D/f && "
            + "setpriv --reuid=65534 --clear-groups \(options) $D/victim ${GET#* } replace"
    }

    /// Whoever may act as the owner of all is refused nothing.
    @Test func theFileOfAnotherUserIsReplacedWithTheCapabilityForIt() async throws {
        try await run(replacing("--inh-caps=+fowner --ambient-caps=+fowner")) { server, program in
            #expect(!program.output.contains("failed"), "\(program.output)\(program.errors)")
            #expect(!server.requests.isEmpty)
        }
    }

    @Test func theFileOfAnotherUserIsNotReplacedInADirectoryForEverybody() async throws {
        try await run("\(replacing()); cat $D/f; ls -A $D") { server, program in
            #expect(program.output.contains("failed notWritable errno \(EPERM)"), "\(program.output)\(program.errors)")
            #expect(program.output.contains("somebody else"))
            #expect(program.output.hasSuffix("xf\nvictim\n"))
            #expect(server.requests.isEmpty)
        }
    }

    @Test(.disabled(if: Timing.isInstrumented, "ThreadSanitizer itself needs larger files"))
    func aFileThatMayNotBeSoLargeEndsIt() async throws {
        try await run("mount -t tmpfs none $D && trap '' XFSZ && ulimit -f 1000 && $GET") { _, program in
            #expect(program.output.contains("failed diskFull errno \(EFBIG)"), "\(program.output)\(program.errors)")
        }
    }
}
