// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP

@testable import Uplink

/// The file in the making: who has it, what may be relied upon, and what is left.
@Suite(.timeLimit(.minutes(1)))
struct PartialFileTests: PartialFileSuite {
    @Test func oneAtATimeHasIt() throws {
        try with { directory, target in
            var first: PartialFile? = try open(target)
            #expect(code { _ = try open(target) } == .targetBusy)
            #expect(code { _ = try open(target, url: "http://elsewhere/") } == .targetBusy)
            _ = first?.abandon(keeping: false)
            first = nil
            #expect(directory.names.isEmpty)
            _ = try open(target).abandon(keeping: false)
        }
    }

    @Test func whatCannotBeLockedLeavesNothing() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let target = directory.path.appending("f")
        let error = await #expect(throws: DownloadError.self) {
            try await offPool {
                try #require(Sandbox.refuse(.flock, with: ENOLCK))
                _ = try PartialFile(for: target, askedFor: machineURL, options: DownloadOptions())
            }
        }
        #expect(error?.errno == ENOLCK)
        #expect(directory.names.isEmpty)
    }

    @Test func manyAtOnceLeaveOneWinnerAtATime() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let target = directory.path.appending("f")
        // Each one that gets it gives it its name; the others are refused or come later. Nobody meets another's file.
        let winners = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await offPool {
                        var wins = 0
                        for _ in 0..<20 {
                            var options = DownloadOptions()
                            options.replacesExisting = true
                            guard let file = try? PartialFile(for: target, askedFor: machineURL, options: options)
                            else { continue }
                            try file.begin(ResourceVersion(validator: nil, length: 3, place: ""))
                            #expect(file.size == 0)
                            try file.append(.init([1, 2, 3]))
                            _ = try file.complete()
                            try file.giveName(replacing: true)
                            wins += 1
                        }
                        return wins
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(winners > 0)
        #expect(directory.holds("f", [1, 2, 3]))
        #expect(directory.names == ["f"])
    }

    @Test func whatIsLeftIsFound() throws {
        try with { directory, target in
            try leave(400, at: target)
            #expect(directory.names == [".f.uplink-part", ".f.uplink-record"])
            let file = try open(target)
            #expect(file.found()?.version == version)
            #expect(file.found()?.bytes == 400)
            try file.adopt(version, bytes: 400)
            try file.append(.init([UInt8](repeating: 8, count: 600)))
            _ = try file.complete()
            try file.giveName(replacing: false)
            #expect(directory.holds("f", [UInt8](repeating: 7, count: 400) + [UInt8](repeating: 8, count: 600)))
            #expect(directory.names == ["f"])
        }
    }

    @Test func theFilesAreTheOwnersAlone() throws {
        try with { directory, target in
            try leave(1, at: target)
            #expect(directory.names.map(directory.permissions) == [.ownerReadWrite, .ownerReadWrite])
        }
    }

    /// Nobody's download makes one, so it is not removed.
    @Test(arguments: [".f.uplink-part", ".f.uplink-record", ".f.uplink-record-new"])
    func aDirectoryInTheWayIsNamed(name: String) throws {
        try with { directory, target in
            #expect(mkdir(directory.path.appending(name).string, 0o700) == 0)
            let error = #expect(throws: DownloadError.self) {
                let file = try open(target)
                defer { _ = file.abandon(keeping: false) }
                try file.begin(version)
            }
            #expect(error?.code == .fileFailed)
            #expect(error?.message.contains("`\(name)`") == true && error?.message.contains("remove") == true)
            #expect(directory.names == [name])
        }
    }

    @Test func whatOthersCouldHaveWrittenIsThrownAway() throws {
        try with { directory, target in
            let part = directory.path.appending(".f.uplink-part").string
            let record = directory.path.appending(".f.uplink-record").string
            /// How many bytes are found after somebody has been at the files.
            func found(_ spoil: () -> Void) throws -> Int64 {
                try leave(400, at: target)
                spoil()
                let file = try open(target)
                defer { _ = file.abandon(keeping: false) }
                return file.found()?.bytes ?? 0
            }
            let other = directory.path.appending("other").string
            let counts = [
                try found {}, try found { chmod(part, 0o666) }, try found { link(part, other) },
                try found { chmod(record, 0o644) }, try found { unlink(record) },
                try found {
                    unlink(part)
                    symlink("/etc/passwd", part)
                },
                try found {
                    unlink(part)
                    mkfifo(part, 0o600)
                },
                try found { try? directory.write(".f.uplink-record", Array("nonsense".utf8)) },
            ]
            #expect(counts == [400, 0, 0, 0, 0, 0, 0, 0])
            let linked = try directory.read("other")
            #expect(linked.count == 400)  // which is left alone
        }
    }

    @Test func whatIsNoFileIsNoTarget() throws {
        try with { directory, target in
            func code(_ make: () -> Void) -> DownloadError.Code? {
                make()
                defer {
                    unlink(target.string)
                    rmdir(target.string)
                }
                return self.code { _ = try open(target) { $0.replacesExisting = true } }
            }
            #expect(code { mkdir(target.string, 0o700) } == .targetNotAFile)
            #expect(code { symlink("/nowhere", target.string) } == .targetNotAFile)
            #expect(code { mkfifo(target.string, 0o600) } == .targetNotAFile)
            #expect(code { try? directory.write("f", [1]) } == nil)
            try directory.write("f", [1])
            #expect(self.code { _ = try open(target) } == .targetExists)
        }
    }

    @Test func aRelativePathMeansTheSameToTheEnd() throws {
        // The directory is held open; where the path leads meanwhile makes no difference.
        try with { directory, _ in
            let inner = directory.path.appending("inner")
            mkdir(inner.string, 0o700)
            let file = try open(inner.appending("f"))
            rename(inner.string, directory.path.appending("moved").string)
            try file.begin(version)
            _ = try file.complete()
            try file.giveName(replacing: false)
            let moved = directory.path.appending("moved/f").string
            #expect(access(moved, F_OK) == 0)
            unlink(moved)
        }
    }

    @Test func longNamesWork() throws {
        try with { directory, _ in
            let name = String(repeating: "n", count: 255)
            try leave(400, at: directory.path.appending(name))
            let file = try open(directory.path.appending(name))
            #expect(file.found()?.bytes == 400)
            try file.begin(version)
            try file.giveName(replacing: false)
            #expect(directory.names == [name])
            #expect(code { _ = try open(directory.path.appending(name + "n")) } != nil)
        }
    }

    /// Removed by hand while one writes it; another begins one of the same name.
    @Test func aRecordSpeaksOfNoOtherFile() throws {
        try with { directory, target in
            let record = ".f.uplink-record"
            let first = try open(target)
            try first.begin(version)
            try first.append(.init([UInt8](repeating: 7, count: 400)))
            let itsRecord = try directory.read(record)
            #expect(unlink(directory.path.appending(".f.uplink-part").string) == 0)
            var second: PartialFile? = try open(target, url: "http://elsewhere/")
            try second?.begin(version)
            try second?.append(.init([UInt8](repeating: 8, count: 500)))
            // Neither overwritten nor removed.
            let others = try directory.read(record)
            #expect(code { try first.noteProgress() } == .fileFailed)
            #expect(code { try first.begin(version) } == .fileFailed)
            try first.forget()
            #expect(first.abandon(keeping: true) == 0)
            #expect(directory.holds(record, others))
            second = nil  // killed
            var next: PartialFile? = try open(target, url: "http://elsewhere/")
            #expect(next?.found()?.bytes == 500)
            next = nil
            // Though it was written between the look and the name.
            try directory.write(record, itsRecord)
            #expect(try open(target).found() == nil)
        }
    }

    @Test func afterAnotherStartOfTheSystemAKillLosesNothing() throws {
        try with { directory, target in
            try leave(400, at: target)
            let text = String(decoding: try directory.read(".f.uplink-record"), as: UTF8.self)
            var record = try #require(PartialRecord(text: text))
            record.boot = "another"
            try directory.write(".f.uplink-record", Array(record.text.utf8))
            var file: PartialFile? = try open(target)
            #expect(file?.found()?.bytes == 400)
            try file?.adopt(version, bytes: 400)
            try file?.append(.init([UInt8](repeating: 8, count: 500)))
            file = nil  // killed
            file = try open(target)
            #expect(file?.found()?.bytes == 900)
        }
    }
}
