// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore

@testable import UplinkHTTP

/// The modes of files that bodies are written to, which are nobody else's business. Alone, because other tests set the
/// umask.
@Suite(.timeLimit(.minutes(1)), .undisturbed)
struct FileModeTests {
    private let permissions: FilePermissions = [.ownerReadWrite, .groupReadWrite, .otherWrite]

    /// By the kernel's word: at no moment has the name been there with another mode.
    @Test(arguments: [true, false]) func theModeIsThereBeforeTheName(_ replacing: Bool) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        if replacing { try directory.write("file", [1]) }
        let record = try DirectoryRecord(directory.path)
        try await HTTPBody([2]).write(
            to: directory.path.appending("file"), replacingExisting: replacing, permissions: permissions)
        let events = record.events()
        let named = try #require(events.firstIndex(of: .appeared("file")), "\(events)")
        let modes = events.indices.filter { if case .changed = events[$0] { true } else { false } }
        #expect(modes.count == 1 && modes.allSatisfy { $0 < named }, "\(events)")
        #expect(directory.permissions(of: "file") == permissions)
        #expect(try directory.read("file") == [2])
    }

    /// A umask can take rights from the owner, too. (Here that of one thread.)
    @Test(arguments: [[.ownerReadWrite], [.ownerReadWrite, .groupRead]] as [FilePermissions])
    func theModeDoesNotDependOnTheUmask(_ permissions: FilePermissions) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await onUnsharedThread {
            umask(0o277)
            let file = try BodyFile(for: directory.path.appending("file"), replacingExisting: false)
            try file.append(HTTPBody.Chunk([2]))
            try file.finish(permissions)
        }
        #expect(directory.permissions(of: "file") == permissions)
    }

    /// The umask is one for all threads: if it were set for a moment, files that others make then would be open to all.
    @Test func filesThatOthersMakeMeanwhileHaveTheirUsualMode() async throws {
        let (directory, others) = (try TemporaryDirectory(), try TemporaryDirectory())
        defer { for directory in [directory, others] { directory.remove() } }
        let mask = try Umask.current()
        let usual = FilePermissions(rawValue: 0o666 & ~mask)
        let (isOver, seen) = (Locked(false), Locked<[FilePermissions?: Int]>([:]))
        let maker = PlainThread {
            repeat {
                let descriptor = open(others.path.appending("other").string, O_CREAT | O_WRONLY | O_CLOEXEC, 0o666)
                close(descriptor)
                seen.withLock { $0[others.permissions(of: "other"), default: 0] += 1 }
                unlink(others.path.appending("other").string)
            } while !isOver.withLock { $0 }
        }
        do {
            defer {
                isOver.withLock { $0 = true }
                maker.join()
            }
            let permissions = permissions
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<400 {
                    let path = directory.path.appending("\(number)")
                    group.addTask { try await HTTPBody([1]).write(to: path, permissions: permissions) }
                }
                try await group.waitForAll()
            }
        }
        let modes = seen.withLock { $0 }
        #expect(Set(modes.keys) == [usual], "\(modes)")
        #expect(try Umask.current() == mask)
        #expect(directory.names.count == 400)
        #expect(directory.names.allSatisfy { directory.permissions(of: $0) == permissions })
    }
}
