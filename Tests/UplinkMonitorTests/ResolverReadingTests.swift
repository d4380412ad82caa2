// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct ResolverReadingTests {
    private let one = ["192.0.2.53"].compactMap(IPAddress.init).map { DNSConfiguration.Resolver(address: $0) }

    @Test func whatIsReadIsToldOnce() {
        var reading = ResolverReading()
        #expect(reading.changed() == .read)
        #expect(reading.finished(one) == .tell(one))
        #expect(reading.changed() == .read)
        #expect(reading.finished(one) == .none)
        #expect(reading.changed() == .read)
        #expect(reading.finished([]) == .tell([]))
    }

    @Test func aChangeWhileReadingIsReadAfterwards() {
        var reading = ResolverReading()
        #expect(reading.changed() == .read)
        #expect(reading.changed() == .none)
        #expect(reading.changed() == .none)
        #expect(reading.finished([]) == .read)
        #expect(reading.finished(one) == .tell(one))
        #expect(reading.state == .resting)
    }

    /// What changes in the same directory, as while packages are installed, is no reason to read again.
    @Test func whatHappensWhileReadingCountsIfItIsAboutTheFile() {
        var reading = ResolverReading()
        #expect(reading.changed() == .read)
        #expect(reading.happened(to: ["passwd"]) == .none)
        #expect(reading.finished(one, names: ["resolv.conf"]) == .tell(one))
        #expect(reading.happened(to: ["passwd"]) == .none)
        #expect(reading.state == .resting)

        #expect(reading.happened(to: ["resolv.conf"]) == .read)
        #expect(reading.happened(to: ["stub.conf"]) == .none)  // whose name this reading finds
        #expect(reading.finished([], names: ["resolv.conf", "stub.conf"]) == .read)
        #expect(reading.happened(to: ["passwd"]) == .none)
        #expect(reading.finished([], names: ["resolv.conf", "stub.conf"]) == .tell([]))

        #expect(reading.changed() == .read)
        #expect(reading.happened(to: [""]) == .none)  // a directory itself
        #expect(reading.finished(one, names: ["resolv.conf"]) == .read)
    }

    @Test func nobodyWaitsForAFileThatHangs() {
        var reading = ResolverReading()
        #expect(reading.changed() == .read)
        #expect(reading.timeIsUp() == .tell([]))
        #expect(reading.timeIsUp() == .none)
        #expect(reading.finished(one) == .tell(one))
        #expect(reading.timeIsUp() == .none)
    }

    @Test func theFirstNameServersOfTheFileAreRead() {
        let text = """
            # nameserver 192.0.2.1
            ; nameserver 192.0.2.2
            search example.com
            nameserver 192.0.2.53
            nameserver\t2001:db8::53   # a comment
              nameserver 192.0.2.3
            nameservers 192.0.2.4
            nameserver
            nameserver not.an.address
            nameserver fe80::1%eth0
            nameserver 192.0.2.99
            options ndots:2
            """
        let resolvers = ResolverText.resolvers(in: text)
        #expect(resolvers.map(\.address.description) == ["192.0.2.53", "2001:db8::53", "fe80::1"])
        #expect(resolvers.map(\.zone) == [nil, nil, "eth0"])
        let forms = ResolverText.resolvers(in: "nameserver 127.1\nnameserver 0x0a000001\nnameserver 10.1.2.3.4\n")
        #expect(forms.map(\.address.description) == ["127.0.0.1", "10.0.0.1"])
        // The C library takes the carriage return for a part of the address.
        #expect(ResolverText.resolvers(in: "nameserver 192.0.2.53\r\n").isEmpty)
        #expect(ResolverText.resolvers(in: "# comment\u{2028}nameserver 192.0.2.53\n").isEmpty)
        #expect(ResolverText.resolvers(in: "\0\0nameserver\0").isEmpty)
        #expect(ResolverText.resolvers(in: "").isEmpty)
    }

    @Test func theNamesInEventsAreRead() {
        var events = Bytes()
        for (name, size) in [("resolv.conf", 16), ("", 0), ("x", 4)] {
            events.add(UInt32(1))
            events.add(UInt32(8))
            events.add(UInt32(0))
            events.add(UInt32(size))
            events.bytes += Array(name.utf8) + [UInt8](repeating: 0, count: size - name.utf8.count)
        }
        events.bytes.withUnsafeBytes { #expect(FileChanges.names(in: $0.bytes) == ["resolv.conf", "", "x"]) }
        for length in 0..<events.bytes.count {
            events.bytes.prefix(length).withUnsafeBytes { #expect(FileChanges.names(in: $0.bytes).count <= 3) }
        }
    }
}

/// What tells of changes of a file, with real files.
@Suite(.timeLimit(.minutes(1)))
struct FileChangesTests {
    @Test func writingReplacingAndDeletingAreSeen() throws {
        try inTemporaryDirectory { directory in
            let path = directory + "/resolv.conf"
            let changes = try #require(FileChanges())
            let names = changes.watch(path)
            #expect(!changed(changes, names))
            try write("a", to: path)
            #expect(changed(changes, names))
            try write("b", to: path + ".new")
            #expect(!changed(changes, names))  // another file
            #expect(rename(path + ".new", path) == 0)
            #expect(changed(changes, names))
            #expect(unlink(path) == 0)
            #expect(changed(changes, names))
            #expect(!changed(changes, names))
        }
    }

    @Test func linksAreFollowed() throws {
        try inTemporaryDirectory { directory in
            let (path, target) = (directory + "/resolv.conf", directory + "/run/stub.conf")
            #expect(symlink("run/stub.conf", path) == 0)  // to what is not there yet
            let changes = try #require(FileChanges())
            let names = changes.watch(path)
            #expect(mkdir(directory + "/run", 0o755) == 0)
            #expect(changed(changes, names))
            let all = changes.watch(path)
            try write("a", to: target)
            #expect(changed(changes, all))
            #expect(unlink(path) == 0)
            #expect(symlink("elsewhere", path) == 0)
            #expect(changed(changes, all))
        }
    }

    /// Where a link has led before is watched no longer.
    @Test func aLinkThatLeadsElsewhereLeavesNoWatchBehind() throws {
        try inTemporaryDirectory { directory in
            let path = directory + "/resolv.conf"
            let changes = try #require(FileChanges())
            for number in 0..<20 {
                let folder = "\(directory)/\(number)"
                #expect(mkdir(folder, 0o755) == 0)
                try write("a", to: "\(folder)/stub.conf")
                unlink(path)
                #expect(symlink("\(folder)/stub.conf", path) == 0)
                let names = changes.watch(path)
                while changed(changes, names) {}  // what the watch of before has told meanwhile
                let watches = try Self.text(of: "/proc/self/fdinfo/\(changes.descriptor)")
                    .split(separator: "\n").count { $0.hasPrefix("inotify") }
                // The link's directory, the file's directory, the file, and /tmp.
                #expect(watches == 3 + directory.split(separator: "/").count - 1)
                try write("b", to: "\(folder)/stub.conf")
                #expect(changed(changes, names))
                #expect(!changed(changes, names))
            }
            for number in 0..<20 { unlink("\(directory)/\(number)/stub.conf") }
        }
    }

    /// As NixOS and others switch from one configuration to the next.
    @Test func aDirectoryOnTheWayIsALinkThatLeadsElsewhere() throws {
        try inTemporaryDirectory { directory in
            for folder in ["old", "new"] {
                #expect(mkdir("\(directory)/\(folder)", 0o755) == 0)
                try write(folder, to: "\(directory)/\(folder)/resolv.conf")
            }
            #expect(symlink("old", "\(directory)/current") == 0)
            #expect(symlink("current/resolv.conf", "\(directory)/resolv.conf") == 0)
            let changes = try #require(FileChanges())
            let names = changes.watch("\(directory)/resolv.conf")
            #expect(symlink("new", "\(directory)/next") == 0)
            #expect(!changed(changes, names))
            #expect(rename("\(directory)/next", "\(directory)/current") == 0)
            #expect(changed(changes, names))
            for name in ["current", "resolv.conf", "old/resolv.conf", "new/resolv.conf"] {
                unlink("\(directory)/\(name)")
            }
            for folder in ["old", "new"] { rmdir("\(directory)/\(folder)") }
        }
    }

    /// Between two looks at where the name leads, at any moment of them.
    @Test func aLinkThatChangesMeanwhileIsFollowed() throws {
        try inTemporaryDirectory { directory in
            for folder in ["old", "new"] {
                #expect(mkdir("\(directory)/\(folder)", 0o755) == 0)
                try write(folder, to: "\(directory)/\(folder)/resolv.conf")
            }
            for round in 0..<300 {
                unlink("\(directory)/current")
                #expect(symlink("old", "\(directory)/current") == 0)
                #expect(symlink("new", "\(directory)/next") == 0)
                let changes = try #require(FileChanges())
                let (isStarted, isSwitched) = (Locked(false), Locked(false))
                detachThread {
                    isStarted.withLock { $0 = true }
                    let end = ContinuousClock.now + .microseconds(round % 100)
                    while ContinuousClock.now < end {}
                    rename("\(directory)/next", "\(directory)/current")
                    isSwitched.withLock { $0 = true }
                }
                while !isStarted.withLock(\.self) { sched_yield() }
                let names = changes.watch("\(directory)/current/resolv.conf")
                while !isSwitched.withLock(\.self) { sched_yield() }
                try write("newer", to: "\(directory)/new/resolv.conf")
                #expect(changed(changes, names), "round \(round)")
            }
            for name in ["current", "old/resolv.conf", "new/resolv.conf"] { unlink("\(directory)/\(name)") }
            for folder in ["old", "new"] { rmdir("\(directory)/\(folder)") }
        }
    }

    @Test func aDirectoryFurtherUpIsMovedAway() throws {
        try inTemporaryDirectory { directory in
            for folder in ["a", "a/b", "a/b/c"] { #expect(mkdir("\(directory)/\(folder)", 0o755) == 0) }
            try write("x", to: "\(directory)/a/b/c/resolv.conf")
            let changes = try #require(FileChanges())
            let names = changes.watch("\(directory)/a/b/c/resolv.conf")
            #expect(rename("\(directory)/a", "\(directory)/z") == 0)
            #expect(changed(changes, names))
            unlink("\(directory)/z/b/c/resolv.conf")
            for folder in ["z/b/c", "z/b", "z"] { rmdir("\(directory)/\(folder)") }
        }
    }

    private static func text(of path: String) throws -> String {
        let file = try #require(fopen(path, "re"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    @Test func aLoopOfLinksEnds() throws {
        try inTemporaryDirectory { directory in
            #expect(symlink("b", directory + "/a") == 0)
            #expect(symlink("a", directory + "/b") == 0)
            let changes = try #require(FileChanges())
            #expect(changes.watch(directory + "/a") == ["a", "b"])
        }
    }

    /// Whether anything has happened since the last call, to what has one of the names or to a watched object itself.
    private func changed(_ changes: FileChanges, _ names: Set<String>) -> Bool {
        changes.takeNames().contains { $0.isEmpty || names.contains($0) }
    }

    private func inTemporaryDirectory(_ body: (String) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try body(directory.path.string)
        unlink(directory.path.string + "/run/stub.conf")
    }

    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "we"))
        fputs(text, file)
        fclose(file)
    }
}
