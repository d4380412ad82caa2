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
struct PartialFileTests {
    private let version = ResourceVersion(validator: .entityTag("\"v1\""), length: 1000, place: "p")

    private func with(_ body: (TemporaryDirectory, FilePath) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try body(directory, directory.path.appending("f"))
    }

    private func open(
        _ target: FilePath, url: String = machineURL, _ change: (inout DownloadOptions) -> Void = { _ in }
    ) throws -> PartialFile {
        var options = DownloadOptions()
        change(&options)
        return try PartialFile(for: target, url: url, options: options)
    }

    private func code(_ body: () throws -> Void) -> DownloadError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DownloadError)?.code
        }
    }

    private func leave(_ count: Int, at target: FilePath, _ version: ResourceVersion? = nil) throws {
        let file = try open(target)
        try file.begin(version ?? self.version)
        try file.append(.init([UInt8](repeating: 7, count: count)))
        #expect(file.abandon(keeping: true) == Int64(count))
    }

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
                            guard let file = try? PartialFile(for: target, url: machineURL, options: options) else {
                                continue
                            }
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
            for name in directory.names {
                var status = stat()
                #expect(stat(directory.path.appending(name).string, &status) == 0)
                #expect(status.st_mode & 0o777 == 0o600)
            }
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

    @Test func aTargetThatAppearsMeanwhileIsNotReplaced() throws {
        try with { directory, target in
            let file = try open(target)
            try file.begin(version)
            try file.append(.init([1]))
            try directory.write("f", [9])
            #expect(code { try file.giveName(replacing: false) } == .targetExists)
            #expect(file.abandon(keeping: true) == 1)
            #expect(directory.holds("f", [9]))
        }
    }

    @Test func anotherFileUnderItsNameIsNotGivenTheTargets() throws {
        try with { directory, target in
            let part = directory.path.appending(".f.uplink-part").string
            let file = try open(target)
            try file.begin(version)
            try file.append(.init([1]))
            #expect(unlink(part) == 0)
            try directory.write(".f.uplink-part", [9])
            _ = try file.complete()
            #expect(code { try file.giveName(replacing: true) } == .fileFailed)
            #expect(access(target.string, F_OK) != 0)
            #expect(file.abandon(keeping: true) == 0)
            #expect(directory.names == [".f.uplink-part"])
            #expect(directory.holds(".f.uplink-part", [9]))  // which is left alone
            // Nor one that somebody has made longer.
            let second = try open(directory.path.appending("g"))
            try second.begin(version)
            try second.append(.init([1]))
            truncate(directory.path.appending(".g.uplink-part").string, 2)
            #expect(code { try second.giveName(replacing: true) } == .fileFailed)
            #expect(!directory.names.contains("g"))
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

    @Test func beginningAnewForgetsTheOldRecordFirst() throws {
        try with { directory, target in
            try leave(400, at: target)
            let file = try open(target)
            try file.begin(ResourceVersion(validator: nil, length: 5, place: "q"))
            #expect(directory.names == [".f.uplink-part"])
            #expect(directory.holds(".f.uplink-part", []))
            _ = file.abandon(keeping: false)
            #expect(directory.names.isEmpty)
        }
    }

    @Test func whatIsForgottenIsGoneFromTheDisk() throws {
        try with { directory, target in
            try leave(400, at: target)
            let file = try open(target)
            try file.forget()  // not taken over: not this run's
            #expect(file.found()?.bytes == 400)
            try file.adopt(version, bytes: 400)
            try file.forget()
            #expect(directory.names == [".f.uplink-part"])
            #expect(directory.holds(".f.uplink-part", []))
            try file.forget()
            try file.begin(version)
            try file.append(.init([1]))
            _ = try file.complete()
            try file.giveName(replacing: false)
            #expect(directory.holds("f", [1]))
        }
    }

    @Test func aRecordThatCannotBeRemovedIsAnError() throws {
        try with { directory, target in
            let file = try open(target)
            let record = directory.path.appending(".f.uplink-record").string
            #expect(mkdir(record, 0o700) == 0)
            #expect(code { try file.begin(version) } != nil)
            #expect(rmdir(record) == 0)
            #expect(file.abandon(keeping: true) == 0)
            #expect(directory.names.isEmpty)
        }
    }

    @Test func whatAKilledProcessHasLeftOfAnEndIsTidiedUp() throws {
        try with { directory, target in
            // Killed in the middle of a record.
            try leave(400, at: target)
            try directory.write(".f.uplink-record-new", [1])
            let file = try open(target)
            try file.adopt(version, bytes: 400)
            _ = try file.complete()
            try file.giveName(replacing: false)
            #expect(directory.names == ["f"])
            // Killed when the target had its name, and the file in the making still had its own.
            #expect(link(target.string, directory.path.appending(".f.uplink-part").string) == 0)
            for name in [".f.uplink-record", ".f.uplink-record-new"] { try directory.write(name, [1]) }
            #expect(code { _ = try open(target) } == .targetExists)
            #expect(directory.names == ["f"])
            // Killed a moment later.
            try directory.write(".f.uplink-record", [1])
            #expect(code { _ = try open(target) } == .targetExists)
            #expect(directory.names == ["f"])
            #expect(directory.holds("f", [UInt8](repeating: 7, count: 400)))
        }
    }

    @Test func whatIsKeptForAReplacementOutlivesARefusal() throws {
        try with { directory, target in
            try leave(400, at: target)
            try directory.write("f", [9])
            let names = directory.names
            #expect(code { _ = try open(target) } == .targetExists)
            #expect(directory.names == names)
            let file = try open(target) { $0.replacesExisting = true }
            #expect(file.found()?.bytes == 400)
            // Nor is it taken from whoever has it.
            #expect(code { _ = try open(target) } == .targetExists)
            #expect(directory.names == names)
        }
    }

    @Test func aRunThatDoesNotTouchWhatIsLeftLeavesIt() throws {
        try with { directory, target in
            try leave(400, at: target)
            let names = directory.names
            // Another URL, such as one with a typing error, of which the server knows nothing.
            #expect(try open(target, url: "https://example.org/dsik.iso").abandon(keeping: false) == 0)
            #expect(try open(target).abandon(keeping: false) == 400)
            #expect(directory.names == names)
            let file = try open(target)
            #expect(file.found()?.bytes == 400)
            try file.adopt(version, bytes: 400)
            #expect(file.abandon(keeping: false) == 0)
            #expect(directory.names.isEmpty)
        }
    }

    @Test func whatADiskHasLostIsNotKept() throws {
        try with { directory, target in
            try leave(400, at: target)
            let flushes = Locked(0)
            /// Fails once, as fsync(2) does, and then says that all is well.
            func failing(_ target: FilePath) throws -> PartialFile {
                flushes.withLock { $0 = 0 }
                return try PartialFile(for: target, url: machineURL, options: DownloadOptions()) { _ in
                    let isFirst = flushes.withLock { count in
                        count += 1
                        return count == 1
                    }
                    if isFirst { errno = EIO }
                    return isFirst ? -1 : 0
                }
            }
            let file = try failing(target)
            try file.adopt(version, bytes: 400)
            try file.append(.init([UInt8](repeating: 8, count: 600)))
            #expect(code { _ = try file.complete() } == .fileFailed)
            #expect(code { _ = try file.complete() } == .fileFailed)
            #expect(file.abandon(keeping: true) == 400)
            #expect(flushes.withLock { $0 } == 1)
            #expect(directory.holds(".f.uplink-part", [UInt8](repeating: 7, count: 400)))
            let next = try open(target)
            #expect(next.found()?.bytes == 400)
            _ = next.abandon(keeping: false)
            // Nothing was ever certain.
            let other = try failing(directory.path.appending("g"))
            try other.begin(version)
            try other.append(.init([1]))
            #expect(other.abandon(keeping: true) == 0)
            #expect(!directory.names.contains { $0.hasPrefix(".g") })
        }
    }

    @Test func aFileThatSomebodyElseHasChangedIsNotGoneOnWith() throws {
        try with { directory, target in
            try leave(400, at: target)
            let file = try open(target)
            try file.adopt(version, bytes: 400)
            try file.goOn(version, at: 400)
            #expect(code { try file.goOn(version, at: 399) } == .fileFailed)
            truncate(directory.path.appending(".f.uplink-part").string, 1000)
            #expect(code { try file.goOn(version, at: 400) } == .fileFailed)
            #expect(file.abandon(keeping: true) == 0)
            #expect(directory.names.isEmpty)
        }
    }
}
