// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import UplinkCommand

@Suite(.timeLimit(.minutes(1)), .undisturbed)
struct CredentialFileTests {
    private let entry = CredentialFile.Entry(server: "https://a.example", user: "me", password: "pass:word")

    private func with(_ body: (CredentialFile, TemporaryDirectory) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try body(CredentialFile(path: directory.path.appending("files.json")), directory)
    }

    @Test func whatIsKeptComesBackAndIsForgotten() throws {
        try with { file, directory in
            #expect(try file.read() == nil)
            let mask = umask(0)
            defer { umask(mask) }
            try file.write(.init(server: "x", user: "y", password: "z"))
            try file.write(entry)
            var status = stat()
            #expect(stat(file.path.string, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(directory.names == ["files.json"])
            #expect(try file.read() == entry)
            #expect(try file.remove())
            #expect(try !file.remove())
            #expect(try file.read() == nil)
        }
    }

    @Test func theDirectoriesAboveItAreMade() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = CredentialFile(path: directory.path.pushing("home/.config/uplink/files.json"))
        try file.write(entry)
        #expect(try file.read() == entry)
        var status = stat()
        #expect(stat(directory.path.appending("home").string, &status) == 0 && status.st_mode & 0o777 == 0o700)
        // What cannot be made is named, and the advice fits.
        try directory.write("in the way", [])
        let blocked = CredentialFile(path: directory.path.pushing("in the way/uplink/files.json"))
        let error = #expect(throws: FilesError.self) { try blocked.write(entry) }
        #expect(
            error?.description.contains("in the way/uplink` cannot be made") == true, "\(String(describing: error))")
        #expect(error?.description.contains("remove it") == false)
    }

    @Test func aFileThatIsOpenToOthersIsNotUsed() throws {
        try with { file, _ in
            try file.write(entry)
            chmod(file.path.string, 0o640)
            #expect(throws: FilesError.self) { try file.read() }
        }
    }

    @Test func aLinkIsNeitherReadNorWrittenThrough() throws {
        try with { file, directory in
            try directory.write("other", Array("{}".utf8))
            symlink("other", file.path.string)
            #expect(throws: FilesError.self) { try file.read() }
            try file.write(entry)
            #expect(try directory.read("other") == Array("{}".utf8))
            #expect(try file.read() == entry)
        }
    }

    @Test func aDamagedFileIsAnErrorThatNamesItAndNoSecret() throws {
        try with { file, directory in
            try directory.write("files.json", Array("{\"password\":\"hidden\"".utf8))
            let error = #expect(throws: FilesError.self) { try file.read() }
            #expect(error?.message.contains("files.json") == true && error?.message.contains("hidden") == false)
        }
    }
}
