// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import SystemPackage
import TestSupport
import Testing
import UplinkCore

@testable import UplinkCommand

/// Where things are kept: whose, readable for whom, and with nothing left over.
@Suite(.timeLimit(.minutes(1)), .undisturbed)
struct OfflineFilesTests {
    private func with(_ body: (OfflineDirectory, TemporaryDirectory) async throws -> Void) async throws {
        let home = try TemporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: home.path.string) }
        // Not even `~/.local` is there.
        let directory = OfflineDirectory(
            path: FilePath("\(home.path)/.local/state/uplink/files/x"))
        try await body(directory, home)
    }

    private func mode(_ path: FilePath) -> mode_t? {
        var status = stat()
        return stat(path.string, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test func itIsForThisUserAlone() async throws {
        try await with { directory, _ in
            let mask = umask(0)
            defer { umask(mask) }
            try directory.make()
            try directory.make()
            for path in [directory.path, directory.contents, directory.uploads] { #expect(mode(path) == 0o700) }
            #expect(mode(directory.database) == 0o600)
            let draft = try await DraftDirectory(path: directory.uploads).draft()
            #expect(mode(draft.path) == 0o600)
        }
    }

    @Test func whatIsOpenToOthersIsNotUsed() async throws {
        try await with { directory, home in
            try directory.make()
            chmod(directory.path.string, 0o750)
            #expect(throws: FilesError.self) { try directory.make() }
            chmod(directory.path.string, 0o700)
            rmdir(directory.uploads.string)
            symlink(home.path.string, directory.uploads.string)
            #expect(throws: FilesError.self) { try directory.make() }
        }
    }

    @Test func serverAndUserHaveADirectoryOfTheirOwn() throws {
        let servers = try ["http://a", "http://a:81", "http://b"].map { try FilesServerURL($0) }
        let names = servers.flatMap { server in
            ["me", "you"].map { OfflineDirectory.name(for: server, user: $0) }
        }
        #expect(Set(names).count == 6)
        #expect(names.allSatisfy { $0.count == 32 && !$0.contains("me") })
        #expect(OfflineDirectory.name(for: try FilesServerURL("http://a/"), user: "me") == names[0])
    }

    /// A new database would know of none of them, and remove them all.
    @Test(arguments: [true, false]) func uploadsOfADatabaseThatIsGoneStay(isEmpty: Bool) async throws {
        try await with { directory, _ in
            try directory.make()
            try directory.make()
            let draft = try await DraftDirectory(path: directory.uploads).draft()
            draft.keep()
            if isEmpty { truncate(directory.database.string, 0) } else { unlink(directory.database.string) }
            let error = #expect(throws: FilesError.self) { try directory.make() }
            #expect(error?.message.contains(directory.uploads.string) == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.uploads.string) == [draft.name])
        }
    }

    @Test func aDraftGoesUnlessItIsKept() async throws {
        try await with { directory, _ in
            try directory.make()
            let uploads = DraftDirectory(path: directory.uploads)
            do {
                let draft = try await uploads.draft()
                try await draft.write([1])
            }
            let kept = try await uploads.draft()
            try await kept.write([1, 2])
            try await kept.seal()
            kept.keep()
            #expect(try FileManager.default.contentsOfDirectory(atPath: uploads.path.string) == [kept.name])
            #expect(try TemporaryDirectory.read(kept.path) == [1, 2])
        }
    }

    @Test func whatNobodyNamesIsSweptButNotWhatSomebodyWrites() async throws {
        try await with { directory, _ in
            try directory.make()
            let uploads = DraftDirectory(path: directory.uploads)
            for name in ["left", "named"] {
                let descriptor = try FileDescriptor.open(
                    uploads.path(of: name), .writeOnly, options: .create, permissions: .ownerReadWrite)
                try descriptor.close()
            }
            let draft = try await uploads.draft()
            try await uploads.sweep { ["named"] }
            let names = try FileManager.default.contentsOfDirectory(atPath: uploads.path.string)
            #expect(Set(names) == ["named", draft.name])
        }
    }
}
#endif
