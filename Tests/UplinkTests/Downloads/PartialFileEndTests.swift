// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP

@testable import Uplink

/// What becomes of a file in the making: its name, what is kept of it, and what is thrown away.
@Suite(.timeLimit(.minutes(1)))
struct PartialFileEndTests: PartialFileSuite {
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

    @Test func theModeIsThereWithTheNameAndGoneWhereTheNameIsRefused() throws {
        try with { directory, target in
            let file = try open(target) { $0.permissions = [.ownerReadWrite, .groupRead] }
            try file.begin(version)
            try file.append(.init([1]))
            try directory.write("f", [9])
            #expect(code { try file.giveName(replacing: false) } == .targetExists)
            #expect(file.abandon(keeping: true) == 1)
            let next = try open(target) {
                $0.permissions = [.ownerReadWrite, .groupRead]
                $0.replacesExisting = true
            }
            #expect(next.found()?.bytes == 1)
            try next.adopt(version, bytes: 1)
            #expect(directory.permissions(of: ".f.uplink-part") == .ownerReadWrite)
            let record = try DirectoryRecord(directory.path)
            try next.giveName(replacing: true)
            #expect(directory.permissions(of: "f") == [.ownerReadWrite, .groupRead])
            let events = record.events()
            let changed = try #require(events.lastIndex(of: .changed(".f.uplink-part")), "\(events)")
            let named = try #require(events.firstIndex(of: .appeared("f")), "\(events)")
            #expect(changed < named && !events.contains(.changed("f")), "\(events)")
        }
    }

    /// The name of the bytes is the lock: from then on another download may have a record there.
    @Test func theBytesNameIsTheLastToGo() throws {
        try with { directory, target in
            let file = try open(target)
            try file.begin(version)
            let record = try DirectoryRecord(directory.path)
            #expect(file.abandon(keeping: false) == 0)
            let gone = record.events().filter { if case .gone = $0 { true } else { false } }
            #expect(gone == [.gone(".f.uplink-record"), .gone(".f.uplink-part")])
        }
    }

    @Test func theNextDownloadsRecordStaysWhenTheFileHasItsName() throws {
        try with { directory, target in
            let file = try open(target)
            try file.begin(version)
            try file.append(.init([1]))
            _ = try file.complete()
            // As if the next download had begun behind the renaming.
            let inode = try file.inode() + 1
            let others = PartialRecord(
                of: version, askedFor: machineURL, synchronised: 0, boot: file.boot, file: inode)
            try directory.write(".f.uplink-record", Array(#require(others).text.utf8))
            try file.giveName(replacing: false)
            #expect(directory.names.sorted() == [".f.uplink-record", "f"])
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

    /// The length would be right in the end, and the digest is that of what was received.
    @Test func nothingIsAppendedToAFileThatSomebodyHasShortened() throws {
        try with { directory, target in
            let file = try open(target)
            try file.begin(version)
            try file.append(.init([1, 2, 3]))
            truncate(directory.path.appending(".f.uplink-part").string, 1)
            #expect(code { try file.append(.init([4])) } == .fileFailed)
            #expect(directory.holds(".f.uplink-part", [1]))
            #expect(file.abandon(keeping: true) == 0)
            #expect(directory.names.isEmpty)
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
                return try PartialFile(for: target, askedFor: machineURL, options: DownloadOptions()) { _ in
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

    /// As vfat and CIFS show it from the start. The next run would not take over what others could have written.
    @Test func whereAFileHasNoModeOfItsOwnNothingIsKept() throws {
        try with { directory, target in
            let flushes = Locked(0)
            let file = try PartialFile(for: target, askedFor: machineURL, options: DownloadOptions()) { _ in
                flushes.withLock { $0 += 1 }
                return 0
            }
            try file.begin(version)
            try file.append(.init([UInt8](repeating: 7, count: 400)))
            #expect(chmod(directory.path.appending(".f.uplink-part").string, 0o755) == 0)
            #expect(file.abandon(keeping: true) == 0)
            #expect(flushes.withLock { $0 } == 0)
            #expect(directory.names.isEmpty)
            // Nor without the record.
            let second = try open(target)
            try second.begin(version)
            try second.append(.init([1]))
            #expect(chmod(directory.path.appending(".f.uplink-record").string, 0o755) == 0)
            #expect(second.abandon(keeping: true, isHurried: true) == 0)
            #expect(directory.names.isEmpty)
        }
    }

    @Test func aForkedChildKeepsNobodyOut() throws {
        try with { _, target in
            /// What a child has of a file that is let go of, with such an end or none.
            func inherited(_ end: (PartialFile) throws -> Void) throws -> CInt {
                let file = try open(target)
                let descriptor = dup(file.descriptor)
                try end(file)
                return descriptor
            }
            let descriptors = [
                try inherited { file in
                    try file.begin(version)
                    try file.append(.init([UInt8](repeating: 7, count: 400)))
                    #expect(file.abandon(keeping: true) == 400)
                },
                try inherited { _ in },
            ]
            defer { for descriptor in descriptors { close(descriptor) } }
            let next = try open(target)
            #expect(next.found()?.bytes == 400)
            _ = next.abandon(keeping: false)
        }
    }

    @Test func whoeverHasCancelledDoesNotWaitForTheDisk() throws {
        try with { _, target in
            let flushes = Locked(0)
            let file = try PartialFile(for: target, askedFor: machineURL, options: DownloadOptions()) { _ in
                flushes.withLock { $0 += 1 }
                return 0
            }
            try file.begin(version)
            try file.append(.init([UInt8](repeating: 7, count: 400)))
            #expect(file.abandon(keeping: true, isHurried: true) == 400)
            #expect(flushes.withLock { $0 } == 0)
            let next = try open(target)
            #expect(next.found()?.bytes == 400)
            _ = next.abandon(keeping: false)
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
