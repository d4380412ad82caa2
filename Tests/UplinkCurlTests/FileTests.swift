// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct FileTests {
    private func withDirectory(_ body: (TemporaryDirectory) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await body(directory)
    }

    private func head(_ size: Int) -> String { "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n" }

    @Test func aFileAppearsWhenItIsWhole() async throws {
        let size = 5_000_001
        try await withDirectory { directory in
            try await withServer([.readHead, .send(head(size)), .fill(size)]) { server in
                try await withClient { client, _ in
                    let progress = Locked<[Int64]>([])
                    let response = try await client.get(server.url())
                    let written = try await response.body.write(to: directory.path.appending("file")) { now in
                        #expect(now.expected == Int64(size))
                        #expect(!directory.names.contains("file"))
                        progress.withLock { $0.append(now.written) }
                    }
                    #expect(written == Int64(size))
                    let steps = progress.withLock { $0 }
                    #expect(steps == steps.sorted())
                    #expect(steps.last == Int64(size))
                }
            }
            #expect(directory.names == ["file"])
            #expect(try directory.read("file") == [UInt8](repeating: UInt8(ascii: "x"), count: size))
        }
    }

    @Test func aTruncatedFileIsRemoved() async throws {
        try await withDirectory { directory in
            try await withServer([.readHead, .send(head(9) + "abc")]) { server in
                try await withClient { client, _ in
                    let (error, _) = await failure {
                        try await client.get(server.url()).body.write(to: directory.path.appending("file"))
                    }
                    #expect(error?.code == .truncated)
                }
            }
            #expect(directory.names.isEmpty)
        }
    }

    @Test func anExistingFileStaysUnlessItIsToBeReplaced() async throws {
        try await withDirectory { directory in
            try directory.write("file", Array("old".utf8))
            try await withServer([.readHead, .send(head(3) + "new"), .loop]) { server in
                try await withClient { client, _ in
                    let target = directory.path.appending("file")
                    let (error, _) = await failure { try await client.get(server.url()).body.write(to: target) }
                    #expect(error?.code == .fileExists)
                    #expect(try directory.read("file") == Array("old".utf8))
                    try await client.get(server.url()).body.write(to: target, replacingExisting: true)
                }
            }
            #expect(try directory.read("file") == Array("new".utf8))
            #expect(directory.names == ["file"])
        }
    }

    @Test func aFileHasItsModeWithItsNameAndIsItsOwnersAloneBefore() async throws {
        try await withDirectory { directory in
            let permissionsOnTheWay = Locked<Set<FilePermissions?>>([])
            try await withServer([.readHead, .send(head(3) + "new"), .loop]) { server in
                try await withClient { client, _ in
                    let choices: [FilePermissions] = [.ownerReadWrite, [.ownerReadWrite, .groupRead, .otherWrite]]
                    for permissions in choices {
                        let body = try await client.get(server.url()).body
                        try await body.write(
                            to: directory.path.appending("file"), replacingExisting: true, permissions: permissions
                        ) { _ in
                            let names = directory.names.filter { $0 != "file" }
                            permissionsOnTheWay.withLock { $0.formUnion(names.map(directory.permissions)) }
                        }
                        #expect(directory.permissions(of: "file") == permissions)
                    }
                }
            }
            #expect(permissionsOnTheWay.withLock { $0 } == [.ownerReadWrite])
        }
    }

    @Test func aFileThatAppearsMeanwhileIsNotReplaced() async throws {
        try await withDirectory { directory in
            let script: [RawServer.Step] = [
                .readHead, .send(head(6) + "abc"), .pause(.milliseconds(200)), .send("def"),
            ]
            try await withServer(script) { server in
                try await withClient { client, _ in
                    let response = try await client.get(server.url())
                    async let writing: Void = {
                        let (error, _) = await failure {
                            try await response.body.write(to: directory.path.appending("file"))
                        }
                        #expect(error?.code == .fileExists)
                    }()
                    try await eventually { !directory.names.isEmpty }
                    try directory.write("file", Array("theirs".utf8))
                    await writing
                }
            }
            #expect(directory.names == ["file"])
            #expect(try directory.read("file") == Array("theirs".utf8))
        }
    }

    /// What can have a file's name and is none.
    enum Other: CaseIterable {
        case directory, pipe, link, danglingLink

        /// Makes it; the link leads to `precious`.
        func make(at path: FilePath) -> Bool {
            switch self {
            case .directory: mkdir(path.string, 0o700) == 0
            case .pipe: mkfifo(path.string, 0o600) == 0
            case .link: symlink("precious", path.string) == 0
            case .danglingLink: symlink("nowhere", path.string) == 0
            }
        }
    }

    @Test(arguments: Other.allCases, [true, false])
    func whatIsNoRegularFileIsNeverReplaced(other: Other, replacing: Bool) async throws {
        try await withDirectory { directory in
            try directory.write("precious", Array("old".utf8))
            let target = directory.path.appending("file")
            try #require(other.make(at: target))
            try await withServer([.readHead, .send(head(3) + "new")]) { server in
                try await withClient { client, _ in
                    let (error, _) = await failure {
                        try await client.get(server.url()).body.write(to: target, replacingExisting: replacing)
                    }
                    #expect(error?.code == .fileFailed)
                    #expect(error?.phase == .sink)
                    #expect(error?.message.contains("no regular file") == true)
                }
            }
            let early = #expect(throws: HTTPClientError.self) { try HTTPBody.checkTarget(target) }
            #expect(early?.code == .fileFailed && early?.requestDisposition == .notSent)
            #expect(!other.make(at: target))  // it is still there
            #expect(try directory.read("precious") == Array("old".utf8))
            #expect(directory.names == ["file", "precious"])
        }
    }

    @Test func aFileOrNothingMayBeReplaced() async throws {
        try await withDirectory { directory in
            try directory.write("file", [])
            for name in ["file", "none"] { try HTTPBody.checkTarget(directory.path.appending(name)) }
        }
    }

    @Test(arguments: Other.allCases)
    func whatAppearsMeanwhileAndIsNoRegularFileIsNotReplaced(other: Other) async throws {
        try await withDirectory { directory in
            let target = directory.path.appending("file")
            try await withServer([.readHead, .send(head(3) + "new")]) { server in
                try await withClient { client, _ in
                    let body = try await client.get(server.url()).body
                    let (error, _) = await failure {
                        // The bytes are told before the file gets its name.
                        try await body.write(to: target, replacingExisting: true) { _ in _ = other.make(at: target) }
                    }
                    #expect(error?.code == .fileFailed)
                    #expect(error?.message.contains("no regular file") == true)
                }
            }
            #expect(directory.names == ["file"])
            #expect(!other.make(at: target))
        }
    }

    /// As with a relative path and another working directory.
    @Test(arguments: [true, false])
    func aDirectoryThatIsMovedMeanwhileGetsTheFile(replacing: Bool) async throws {
        try await withDirectory { directory in
            let (path, moved) = (directory.path.string, "\(directory.path)-moved")
            try await withServer([.readHead, .send(head(3) + "new")]) { server in
                try await withClient { client, _ in
                    let body = try await client.get(server.url()).body
                    let size = try await body.write(
                        to: directory.path.appending("file"), replacingExisting: replacing
                    ) { _ in
                        _ = rename(path, moved)
                    }
                    #expect(size == 3)
                }
            }
            try #require(rename(moved, path) == 0)
            #expect(directory.names == ["file"])
            #expect(try directory.read("file") == Array("new".utf8))
        }
    }

    @Test func aDirectoryThatGoesAwayIsAnError() async throws {
        let directory = try TemporaryDirectory()
        let script: [RawServer.Step] = [.readHead, .send(head(6) + "abc"), .pause(.seconds(1)), .send("def")]
        try await withServer(script) { server in
            try await withClient { client, transport in
                let response = try await client.get(server.url())
                async let writing = failure { try await response.body.write(to: directory.path.appending("file")) }
                try await eventually { !directory.names.isEmpty }
                directory.remove()
                let error = await writing.error
                #expect(error?.code == .fileFailed)
                #expect(error?.errno == ENOENT)
                #expect(await transport.census().transfers == 0)
            }
        }
    }

    /// Names as an old archive has them, in Latin-1: `é` in `ü`. U+FFFD in their place would be others.
    @Test func namesThatAreNotUTF8AreTakenByteForByte() async throws {
        try await withDirectory { directory in
            let folder = directory.path.pushing(FilePath(platformString: [CChar(bitPattern: 0xFC), 0]))
            let file = folder.pushing(FilePath(platformString: [CChar(bitPattern: 0xE9), 0]))
            let isMade = folder.withPlatformString { mkdir($0, 0o700) } == 0
            try #require(isMade)
            try await withServer([.readHead, .send(head(9) + "abc")]) { server in
                try await withClient { client, _ in
                    let (error, _) = await failure { try await client.get(server.url()).body.write(to: file) }
                    #expect(error?.code == .truncated)
                }
            }
            try await withServer([.readHead, .send(head(3) + "new"), .loop]) { server in
                try await withClient { client, _ in
                    try await client.get(server.url()).body.write(to: file)
                    let (error, _) = await failure { try await client.get(server.url()).body.write(to: file) }
                    #expect(error?.code == .fileExists)
                    try await client.get(server.url()).body.write(to: file, replacingExisting: true)
                }
            }
            #expect(try TemporaryDirectory.read(file) == Array("new".utf8))
            // A directory with anything else in it cannot be removed.
            let isRemoved = file.withPlatformString { unlink($0) } == 0 && folder.withPlatformString { rmdir($0) } == 0
            #expect(isRemoved)
            #expect(directory.names.isEmpty)
        }
    }

    @Test func aMissingDirectoryIsAnError() async throws {
        try await withServer([.readHead, .send(head(3) + "new")]) { server in
            try await withClient { client, _ in
                let (error, _) = await failure {
                    try await client.get(server.url()).body.write(to: "/nonexistent/file")
                }
                #expect(error?.code == .fileFailed)
                #expect(error?.errno == ENOENT)
                #expect(error?.phase == .sink)
            }
        }
    }

    @Test(.enabled(if: getuid() == 0 || Spawn.isCI, "a file system of one's own needs root"))
    func aDirectoryThatIsReadOnlyIsAnError() async throws {
        try await withDirectory { directory in
            let log = try TemporaryDirectory()
            defer { log.remove() }
            let options = ["-t", "tmpfs", "-o", "ro,size=256k", "uplink-test", directory.path.string]
            try #require(try Spawn.run(["mount"] + options, in: log.path) == 0)
            defer { _ = try? Spawn.run(["umount", directory.path.string], in: log.path) }
            try await withServer([.readHead, .send(head(3) + "new")]) { server in
                try await withClient { client, transport in
                    let (error, _) = await failure {
                        try await client.get(server.url()).body.write(to: directory.path.appending("file"))
                    }
                    #expect(error?.code == .fileFailed)
                    #expect(error?.errno == EROFS)
                    #expect(await transport.census().transfers == 0)
                }
            }
        }
    }

    @Test(.enabled(if: getuid() == 0 || Spawn.isCI, "a small file system needs root"))
    func aFullDiskIsAnErrorAndLeavesNothing() async throws {
        try await withDirectory { directory in
            let log = try TemporaryDirectory()
            defer { log.remove() }
            let options = ["-t", "tmpfs", "-o", "size=256k", "uplink-test", directory.path.string]
            try #require(try Spawn.run(["mount"] + options, in: log.path) == 0)
            defer { _ = try? Spawn.run(["umount", directory.path.string], in: log.path) }
            try await withServer([.readHead, .send(head(3_000_000)), .fill(3_000_000)]) { server in
                try await withClient { client, transport in
                    let (error, _) = await failure {
                        try await client.get(server.url()).body.write(to: directory.path.appending("file"))
                    }
                    #expect(error?.code == .fileFailed)
                    #expect(error?.errno == ENOSPC)
                    #expect(await transport.census().transfers == 0)
                }
            }
            #expect(directory.names.isEmpty)
        }
    }

    /// What is in memory is written where it holds nobody up, too, even if its caller prefers a loop.
    @Test(arguments: [HTTPBody([1, 2, 3]), HTTPBody(pulling: { nil })])
    func noFileIsOpenedOnALoop(body: HTTPBody) async throws {
        let wasOnLoop = try await withTaskExecutorPreference(EventLoop.shared) {
            try await body.handle.source.performBlocking { EventLoop.shared.isCurrent }
        }
        #expect(!wasOnLoop)
    }
}
