// SPDX-License-Identifier: Apache-2.0
#if Store
import ArgumentParser
import Foundation
import SystemPackage
import TestSupport
import Testing
import UplinkTesting

@testable import UplinkCommand

/// The real program with its server, which goes and comes back at the same port.
@Suite(.timeLimit(.minutes(4)))
struct OfflineProgramTests {
    @Test func whatWasReadStaysAndWhatIsChangedIsSent() async throws {
        try await OfflineProgram.with { program in
            try program.home.write("cat.txt", Array("meow\n".utf8))
            try await program.serve {
                _ = try await program.uplink("mkdir /Pictures")
                _ = try await program.uplink("put \(program.home.path)/cat.txt /Pictures")
                #expect(try await program.uplink("ls /Pictures").errors.isEmpty)
                #expect(try await program.uplink("cat /Pictures/cat.txt").output == "meow\n")
            }

            let listed = try await program.uplink("ls /Pictures")
            #expect(listed.output.hasSuffix("  cat.txt\n"))
            #expect(
                listed.errors.hasPrefix("As of ") && listed.errors.contains("ago, since the server was not reached"))
            #expect(try await program.uplink("cat /Pictures/cat.txt").output == "meow\n")
            #expect(try await program.uplink("ls --online", status: 1).output.isEmpty)
            #expect(try await program.uplink("mkdir /New").errors.hasPrefix("Waits to be sent: new folder /New"))
            let put = try await program.uplink("put \(program.home.path)/cat.txt /New/copy.txt --json")
            #expect(put.output.contains("\"pending\":{"))
            _ = try await program.uplink("rm /Pictures/cat.txt")
            try program.home.write("cat.txt", Array("changed\n".utf8))
            _ = try await program.uplink("mkdir /Refused --online", status: 1)
            #expect(try await program.uplink("ls").output.contains("New/  (to be made)\n"))
            #expect(try await program.uplink("ls /Pictures").output.contains("cat.txt  (to be deleted)\n"))
            #expect(try await program.uplink("cat /New/copy.txt").output == "meow\n")
            // What is on this host needs no password.
            #expect(try await program.uplink("pending", as: "--user me").output.split(separator: "\n").count == 3)
            #expect(try await program.uplink("sync", status: 1).output.split(separator: "\n").count == 3)

            try await program.serve {
                let sent = try await program.uplink("sync --within 60")
                #expect(sent.errors.split(separator: "\n").count == 3 && sent.output.isEmpty)
                #expect(try await program.uplink("pending --json").output == "[]\n")
                #expect(try await program.uplink("cat /New/copy.txt").output == "meow\n")
                #expect(try await program.uplink("ls /Pictures --json").output == "[]\n")
            }
            #expect(try program.uploads.isEmpty)
            try program.expectPrivacy()
        }
    }

    @Test func whatReplacesAFileIsThatFile() async throws {
        try await OfflineProgram.with { program in
            let file = "\(program.home.path)/file"
            try program.home.write("file", Array("old\n".utf8))
            try await program.serve {
                _ = try await program.uplink("put \(file) /file")
                #expect(try await program.uplink("cat /file").output == "old\n")
            }
            try program.home.write("file", Array("new\n".utf8))
            #expect(try await program.uplink("put \(file) /file --force").errors.contains("Waits to be sent"))
            #expect(try await program.uplink("cat /file").output == "new\n")
            _ = try await program.uplink("rm /file")
            try await program.serve {
                _ = try await program.uplink("sync --within 60")
                #expect(try await program.uplink("ls --json").output == "[]\n")
            }
        }
    }

    @Test func whatIsNotReplacedIsNotDeletedEither() async throws {
        try await OfflineProgram.with { program in
            try program.home.write("mem", Array("old\n".utf8))
            try await program.serve {
                _ = try await program.uplink("put \(program.home.path)/mem /mem")
                _ = try await program.uplink("ls")
            }
            // Can be opened, and not be read.
            let put = try await program.uplink("put --force /proc/self/mem /mem", status: 1)
            #expect(!put.errors.contains("deleted"), "\(put.errors)")
            #expect(try await program.uplink("pending --json").output == "[]\n")
            try await program.serve {
                let content = try await program.uplink("cat /mem").output
                #expect(content == "old\n")
            }
        }
    }

    @Test func conflictsAreShownAndNothingIsLost() async throws {
        try await OfflineProgram.with { program in
            try program.home.write("mine", Array("mine".utf8))
            try await program.serve {
                _ = try await program.uplink("mkdir /Gone")
                _ = try await program.uplink("ls /Gone")
            }
            _ = try await program.uplink("put \(program.home.path)/mine /taken")
            _ = try await program.uplink("put \(program.home.path)/mine /Gone")
            try await program.serve {
                try program.home.write("other", Array("other's".utf8))
                _ = try await program.uplink("put \(program.home.path)/other /taken --online")
                _ = try await program.uplink("rm -r /Gone --online")
                let listed = try await program.uplink("ls")  // sends what waits first
                #expect(listed.errors.contains("Not sent: upload of /taken, number 1"))
                #expect(listed.errors.contains("Not sent: upload of /Gone/mine, number 2"))
                #expect(listed.output.contains("taken  (conflict, number 1)\n"))
                #expect(listed.output.contains("taken\n"))
                let pending = try await program.uplink("pending --json").output
                #expect(pending.contains("\"state\":\"conflict\"") && pending.contains("is gone"))
                #expect(try await program.uplink("sync", status: 1).errors.isEmpty)

                _ = try await program.uplink("rm /taken")
                _ = try await program.uplink("pending --retry 1")
                #expect(try await program.uplink("ls").errors.contains("Sent: upload of /taken"))
                #expect(try await program.uplink("cat /taken").output == "mine")
                #expect(try await program.uplink("pending --discard 2").output.isEmpty)
                #expect(
                    try await program.uplink("pending --discard 2", status: 1).errors.contains("there is no change 2"))
            }
            #expect(try program.uploads.isEmpty)
        }
    }

    /// Killed when the server has the upload and keeps its answer back: it is sent again, and is no conflict.
    @Test func aProgramThatIsKilledWhileItSendsLosesNothing() async throws {
        try await OfflineProgram.with { program in
            try program.home.write("cat", Array("meow".utf8))
            try await program.serve { _ = try await program.uplink("ls") }
            _ = try await program.uplink("put \(program.home.path)/cat /")
            try await program.serve("--slow 600") {
                let sync = try program.start("sync --within 60")
                try await eventually(within: .seconds(30), "the server has it") {
                    program.served.names.contains("cat")
                }
                // Another command knows that it cannot know.
                let discarded = try await program.uplink("pending --discard 1", status: 1, as: "--user me")
                #expect(discarded.errors.contains("another process is sending what waits"))
                sync.signal(SIGKILL)
                _ = try await sync.wait()
            }
            #expect(program.served.names == ["cat"])
            #expect(try await program.uplink("pending", as: "--user me").output.contains("upload of /cat"))
            try await program.serve {
                let sent = try await program.uplink("sync --within 60")
                #expect(sent.errors == "Sent: upload of /cat\n")
                #expect(try await program.uplink("ls --json").output.contains("\"name\":\"cat\",\"parentId\""))
                #expect(try await program.uplink("pending").output.isEmpty)
            }
            #expect(program.served.names == ["cat"])
            #expect(try program.uploads.isEmpty)
        }
    }

    @Test func whereNetlinkIsRefusedTheServerIsReached() async throws {
        try await OfflineProgram.with { program in
            try await program.serve {
                let made = try await program.startWithoutNetlink("mkdir /New")
                #expect(try await made.wait(upTo: .seconds(60)) == 0)
                #expect(made.errors.isEmpty)
                #expect(program.served.names == ["New"])
            }
        }
    }

    @Test(arguments: ["pending --retry 1 --discard 2", "pending --online", "sync --online", "sync --within soon"])
    func wrongUsageExits64(words: String) {
        let error = #expect(throws: (any Error).self) {
            try UplinkProgram.parseAsRoot(["files"] + words.split(separator: " ").map(String.init))
        }
        #expect(error.map { UplinkProgram.exitCode(for: $0).rawValue } == 64)
    }
}

/// The same where the network itself goes, on the kernel's own word.
@Suite(.timeLimit(.minutes(4)), .needsNetworkNamespaces)
struct OfflineNetworkTests {
    @Test func whatWaitsGoesWhenTheNetworkComes() async throws {
        try await withTestNetwork(.ipv4) { network in
            try await OfflineProgram.with(network) { program in
                try await program.serve {
                    #expect(try await program.uplink("ls").errors.isEmpty)
                    try network.goOffline()
                    #expect(try await program.uplink("ls").errors.contains("the network (a way to 192.0.2.254)"))
                    #expect(try await program.uplink("mkdir /New").errors.hasPrefix("Waits to be sent"))
                    let sync = try program.start("sync --within 60")
                    try network.goOnline()
                    #expect(try await sync.wait(upTo: .seconds(90)) == 0)
                    #expect(program.served.names == ["New"])
                    #expect(try await program.uplink("ls").output.hasSuffix("New/\n"))
                }
            }
        }
    }

    @Test func whereNetlinkIsRefusedTheWayIsLookedAt() async throws {
        try await withTestNetwork(.ipv4) { network in
            try await OfflineProgram.with(network) { program in
                try await program.serve {
                    let made = try await program.startWithoutNetlink("mkdir /New")
                    #expect(try await made.wait(upTo: .seconds(60)) == 0)
                    #expect(made.errors.isEmpty)
                    #expect(program.served.names == ["New"])
                }
            }
        }
    }
}
#endif
