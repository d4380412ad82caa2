// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import Uplink

@testable import UplinkCommand

/// Client and server of the contract, over a real connection.
@Suite(.timeLimit(.minutes(2)))
struct FilesServerTests {
    @Test func oddNamesComeBackEqual() async throws {
        try await FilesSite.with { site in
            let folder = try await site.files.makeFolder(named: "folders", in: site.root.id)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in oddNames { group.addTask { try await Self.roundTrip(name, site, folder) } }
                try await group.waitForAll()
            }
            for folder in [site.root, folder] {
                let names = Set(try await site.files.list(folder.id).items.map(\.name))
                #expect(names.isSuperset(of: oddNames))
            }
        }
    }

    private static func roundTrip(_ name: String, _ site: FilesSite, _ folder: Item) async throws {
        let file = try await site.put(Array(name.utf8), named: name)
        let inner = try await site.files.makeFolder(named: name, in: folder.id)
        #expect([file, inner].allSatisfy { Array($0.name.utf8) == Array(name.utf8) })
        #expect(try await site.content(of: file) == Array(name.utf8))
        #expect(try await site.files.item(at: RemotePath("/folders/\(name)")) == inner)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "", "..", "a/b", "a:b", "a\"b", "nul\0"])
    func anInvalidNameBreaksNothingAndGetsTheServers400(name: String) async throws {
        try await FilesSite.with { site in
            await expectError(.refused) { _ = try await site.put([1], named: name) }
            await expectError(.refused) { _ = try await site.files.makeFolder(named: name, in: site.root.id) }
            let items = try await site.files.list(site.root.id).items
            #expect(items.isEmpty)
        }
    }

    @Test func anEmptyFileIsAFile() async throws {
        try await FilesSite.with { site in
            let file = try await site.put([], named: "empty")
            #expect(file.size == 0 && !file.isFolder)
            #expect(try await site.content(of: file).isEmpty)
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let target = directory.path.appending("empty")
            try await site.files.read(file.id, of: 0, to: target, replacingExisting: false, progress: nil)
            #expect(try directory.read("empty").isEmpty)
            #expect(directory.names == ["empty"])
            let fromFile = try await site.files.upload(.file(target), named: "again", in: site.root.id, progress: nil)
            #expect(fromFile.size == 0)
        }
    }

    @Test func wrongCredentialsAreRefused() async throws {
        try await FilesSite.with { site in
            for (user, password) in [("me", "wrong"), ("you", FilesSite.password), ("me", "se")] {
                await expectError(.wrongUserOrPassword) {
                    _ = try await RemoteLogIn(over: site.transport)(site.url, user: user, password: password)
                }
            }
            let logIn = RemoteLogIn(over: site.transport)
            let loggedIn = try await logIn(site.url, user: FilesSite.user, password: FilesSite.password)
            #expect(loggedIn.user.root == site.root)
            #expect(try await loggedIn.files.list(site.root.id).items.isEmpty)
        }
    }

    @Test func everyRequestWithoutCredentialsIsToldHowToSendThem() async throws {
        try await FilesSite.with { site in
            let file = try await site.put([1], named: "file")
            let client = HTTPClient(transport: site.transport)
            let items = "\(site.url.text)/items"
            for (method, url) in [
                (HTTPRequest.Method.get, "\(site.url.text)/me"), (.get, "\(items)/\(site.root.id)"),
                (.get, "\(items)/\(file.id)/data"), (.post, "\(items)/\(site.root.id)"),
                (.delete, "\(items)/\(file.id)"),
                (.get, "\(items)/\(itemID(1))"), (.get, "\(site.url.text)/none"),
            ] {
                let response = try await client.execute(HTTPRequest(parsing: url, method: method))
                #expect(response.status.code == 401)
                #expect(response.head.headerFields[.wwwAuthenticate]?.hasPrefix("Basic ") == true)
                _ = try await response.body.collect(upTo: 1000)
            }
            #expect(try await site.content(of: file) == [1])
        }
    }

    @Test func whatIsNotAsItShouldBeHasItsStatus() async throws {
        try await FilesSite.with { site in
            let (files, root) = (site.files, site.root.id)
            let file = try await site.put([1, 2], named: "file")
            await expectError(.refused) { _ = try await files.makeFolder(named: "file", in: root) }
            await expectError(.refused) { _ = try await site.put([3], named: "file") }
            await expectError(.refused) { _ = try await site.content(of: site.root) }
            await expectError(.refused) { _ = try await files.list(file.id) }
            await expectError(.refused) { _ = try await files.makeFolder(named: "a", in: file.id) }
            await expectError(.refused) { try await files.delete(root) }
            await expectError(.notFound) { try await files.delete(itemID(1)) }
            await expectError(.notFound) { _ = try await files.list(itemID(1)) }
            await expectError(.notFound) { _ = try await files.item(at: RemotePath("/none")) }
            await expectError(.notFound) { _ = try await files.item(at: RemotePath("/file/none")) }
            #expect(try await site.content(of: file) == [1, 2])
        }
    }

    @Test func aDeletedFolderTakesItsContentAlong() async throws {
        try await FilesSite.with { site in
            let folder = try await site.files.makeFolder(named: "a", in: site.root.id)
            let inner = try await site.files.makeFolder(named: "b", in: folder.id)
            let file = try await site.files.upload(.bytes([1]), named: "c", in: inner.id, progress: nil)
            try await site.files.delete(folder.id)
            #expect(try await site.files.list(site.root.id).items.isEmpty)
            await expectError(.notFound) { _ = try await site.content(of: file) }
        }
    }

    @Test func whatIsRefusedIsReadNeverthelessAndTheConnectionGoesOn() async throws {
        let limit = 100_000
        try await FilesSite.with(ServedFiles(limit: limit)) { site in
            let large = [UInt8](repeating: 7, count: 1_000_000)
            await expectError(.serverFailed) { _ = try await site.put(large, named: "large") }
            await expectError(.refused) { _ = try await site.put(large, inChunksOf: 50_000, named: "x/y") }
            let file = try await site.put(Array(large[..<limit]), named: "fits")
            #expect(file.size == Int64(limit))
            #expect(try await site.files.list(site.root.id).items.map(\.name) == ["fits"])
        }
    }

    @Test func whatIsUploadedAtTheSameTimeKeepsToTheLimitTogether() async throws {
        let served = ServedFiles(limit: 100)
        let root = try await served.root.id
        var uploads = [
            try await served.beginUpload(named: "a", in: root), try await served.beginUpload(named: "b", in: root),
        ]
        try uploads[0].write(Data(count: 60))
        #expect(throws: ServiceError.full) { try uploads[1].write(Data(count: 41)) }
        try uploads[1].write(Data(count: 40))
        _ = try await served.finish(uploads[0], named: "a", in: root)
        for place in uploads.indices { uploads[place].end() }
        try await served.fill(40, in: root)
        for item in try await served.items(in: root) { try await served.delete(item.id) }
        try await served.fill(100, in: root)
    }

    @Test func readingAFolderCanBeCancelled() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for name in ["a", "b", "c"] { try directory.write(name, []) }
        let asked = Locked(0)
        #expect(throws: CancellationError.self) {
            try ServedFiles(folder: directory.path) {
                asked.withLock { count in
                    count += 1
                    return count == 2
                }
            }
        }
        #expect(asked.withLock(\.self) == 2)
    }

    @Test func aFolderIsServedAsItIs() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("old.txt", Array("old".utf8))
        symlink("/etc/passwd", directory.path.appending("link").string)
        let served = try ServedFiles(folder: directory.path)
        #expect(served.skipped == 1)
        try await FilesSite.with(served) { site in
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let progress = Locked<[Int64]>([])
            let new = try await site.files.upload(.bytes(bytes), named: "new", in: site.root.id) { done, _ in
                progress.withLock { $0.append(done) }
            }
            #expect(progress.withLock { $0.last == 300_000 && $0 == $0.sorted() })
            #expect(try directory.read("new") == bytes)
            #expect(try await site.content(of: new) == bytes)
            let folder = try await site.files.makeFolder(named: "folder", in: site.root.id)
            #expect(directory.names == ["folder", "link", "new", "old.txt"])
            #expect(try await site.files.list(site.root.id).items.map(\.name) == ["folder", "new", "old.txt"])
            let old = try await site.files.item(at: RemotePath("old.txt"))
            #expect(old.kind == .text)
            #expect(try await site.content(of: old) == Array("old".utf8))
            for item in [new, folder] { try await site.files.delete(item.id) }
            #expect(directory.names == ["link", "old.txt"])
            await expectError(.refused) { _ = try await site.put([1], named: "link") }
        }
        #expect(directory.names == ["link", "old.txt"])
    }

    @Test(arguments: [true, false])
    func whoHasTheBeginningGetsTheRestOfTheSameFile(inFolder: Bool) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await FilesSite.with(inFolder ? ServedFiles(folder: directory.path) : ServedFiles()) { site in
            let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let file = try await site.put(bytes, named: "file")
            let credentials = try Credentials(user: FilesSite.user, password: FilesSite.password)
            let client = HTTPClient(
                transport: site.transport, configuration: try RemoteFiles.configuration(for: site.url, as: credentials))
            func get(_ fields: HTTPFields) async throws -> (status: Int, head: HTTPFields, bytes: [UInt8]) {
                let url = "\(site.url.text)/items/\(file.id)/data"
                let response = try await client.get(url, headers: fields)
                let body = try await response.body.collect(upTo: 1 << 20)
                return (response.status.code, response.head.headerFields, body)
            }
            let whole = try await get([:])
            let tag = try #require(whole.head[.eTag])
            #expect(whole.status == 200 && whole.bytes == bytes)
            let rest = try await get([.range: "bytes=150000-", .ifRange: tag])
            #expect(rest.status == 206 && rest.bytes == Array(bytes[150_000...]))
            #expect(rest.head[.contentRange] == "bytes 150000-199999/200000" && rest.head[.eTag] == tag)
            #expect(try await get([.range: "bytes=150000-", .ifRange: "\"other\""]).bytes == bytes)
            #expect(try await get([.range: "bytes=200000-", .ifRange: tag]).status == 416)
            let url = "\(site.url.text)/items/\(file.id)/data"
            let head = try await client.head(url, headers: [.range: "bytes=150000-"])
            #expect(head.status == 200 && head.head.headerFields[.contentLength] == "200000")
            try await site.files.delete(file.id)
            let again = try await site.put(bytes, named: "file")
            #expect(again.id == file.id)
            #expect(try await get([.range: "bytes=150000-", .ifRange: tag]).status == 200)
        }
    }

    @Test(arguments: [true, false])
    func whatAClientHasOrMeansIsHeeded(inFolder: Bool) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await FilesSite.with(inFolder ? ServedFiles(folder: directory.path) : ServedFiles()) { site in
            let file = try await site.put([1, 2, 3], named: "file")
            let folder = try await site.files.makeFolder(named: "folder", in: site.root.id)
            let credentials = try Credentials(user: FilesSite.user, password: FilesSite.password)
            let client = HTTPClient(
                transport: site.transport, configuration: try RemoteFiles.configuration(for: site.url, as: credentials))
            func status(_ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields) async throws -> Int {
                var request = try HTTPRequest(parsing: "\(site.url.text)/items/\(path)", method: method)
                request.headerFields = fields
                let response = try await client.execute(request)
                let body = try await response.body.collect(upTo: 100)
                #expect(response.status.code != 304 || body.isEmpty)
                return response.status.code
            }
            let data = "\(file.id)/data"
            let tag = try #require(
                try await client.get("\(site.url.text)/items/\(data)").head.headerFields[.eTag])
            for method in [HTTPRequest.Method.get, .head] {
                #expect(try await status(method, data, [.ifNoneMatch: "\"a\", W/\(tag) ,\"b\""]) == 304)
                #expect(try await status(method, data, [.ifNoneMatch: "*"]) == 304)
                #expect(try await status(method, data, [.ifNoneMatch: "\"a\""]) == 200)
                #expect(try await status(method, data, [.ifMatch: tag]) == 200)
                #expect(try await status(method, data, [.ifMatch: "W/\(tag)"]) == 412)
                #expect(try await status(method, data, [.ifMatch: "\"a\"", .ifNoneMatch: tag]) == 412)
            }
            for (id, tag) in [("\(file.id)", tag), ("\(folder.id)", "*")] {
                #expect(try await status(.delete, id, [.ifMatch: "\"a\""]) == 412)
                #expect(try await status(.delete, id, [.ifNoneMatch: tag]) == 412)
                #expect(try await status(.delete, id, [.ifMatch: tag]) == 204)
                #expect(try await status(.delete, id, [.ifMatch: "*"]) == 404)
            }
        }
    }

    @Test func aCancelledUploadLeavesNothing() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await FilesSite.with(ServedFiles(folder: directory.path)) { site in
            let (pieces, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
            continuation.yield([UInt8](repeating: 1, count: 100_000))
            let upload = Task {
                try await site.files.upload(.pieces(pieces), named: "new", in: site.root.id, progress: nil)
            }
            try await eventually(within: .seconds(30), "the upload has begun") { directory.names.count == 1 }
            #expect(try await site.files.list(site.root.id).items.isEmpty)
            upload.cancel()
            await #expect(throws: CancellationError.self) { try await upload.value }
            try await eventually(within: .seconds(30), "nothing is left") { directory.names.isEmpty }
            #expect(try await site.files.list(site.root.id).items.isEmpty)
            // As after a restart, or a client would take the folder for one that has changed.
            let date = try await ServedFiles(folder: directory.path).root.modificationDate
            try await eventually(within: .seconds(30), "the folder's date is that on the disk") {
                try await site.served.root.modificationDate == date
            }
            continuation.finish()
        }
    }

    @Test func faultsAreSeenByTheClient() async throws {
        try await FilesSite.with(faults: Faults(failEvery: 1)) { site in
            await expectError(.serverFailed) { _ = try await site.files.user() }
            await expectError(.serverFailed) { _ = try await site.put([1], named: "new") }
        }
        try await FilesSite.with(faults: Faults(dropEvery: 1)) { site in
            do {
                _ = try await site.files.user()
                Issue.record("an answer came")
            } catch let error as FilesError {
                #expect(error.code == .unreachable && error.isNetworkFailure)
            }
        }
    }
}

extension ServedFiles {
    /// Takes so many bytes and not one more.
    fileprivate func fill(_ count: Int, in folder: ItemID) throws {
        var upload = try beginUpload(named: "fill", in: folder)
        defer { upload.end() }
        try upload.write(Data(count: count))
        #expect(throws: ServiceError.full) { try upload.write(Data(count: 1)) }
        #expect(try finish(upload, named: "fill", in: folder).size == Int64(count))
    }
}
