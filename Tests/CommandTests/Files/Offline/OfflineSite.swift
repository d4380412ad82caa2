// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import SystemPackage
import TestSupport
import Testing
import Uplink
import UplinkCore
import UplinkStore
import UplinkStoreTesting
import UplinkTesting

@testable import UplinkCommand

/// A server without a socket, which goes and comes as a test says, and a store around it with clocks of its own.
final class OfflineSite: Sendable {
    /// What becomes of requests.
    enum Weather: Sendable {
        case fine
        /// None arrives.
        case unreachable
        /// They are done, and their answers lost.
        case answersAreLost
        /// They are refused with this status.
        case status(Int)
    }

    let served = ServedFiles()
    let performer = StubNetworkOperationPerformer()
    let weather = Locked(Weather.fine)
    let requests = Locked(0)
    /// What is on the server and in listings so that it cannot be read.
    let malformed = Locked<Set<ItemID>>([])
    /// What the use cases told.
    let news = Locked<[OfflineNews]>([])
    private let elapsed = Locked(Duration.zero)
    let directory: OfflineDirectory
    private let home: TemporaryDirectory
    let store: OfflineStore

    private init(_ limits: OfflineLimits) throws {
        home = try TemporaryDirectory()
        directory = OfflineDirectory(path: home.path.appending("a").appending("b").appending("c").appending("d"))
        try directory.make()
        let (begin, wall) = (ContinuousClock.now, Date(timeIntervalSince1970: 1_700_000_000))
        let (elapsed, news) = (elapsed, news)
        let now: @Sendable () -> Date = { wall.addingTimeInterval(elapsed.withLock { $0 } / .seconds(1)) }
        let store = try Store.stubbed(
            migrator: OfflineSchema.migrator, performer: performer, clock: ManualClock(), now: now)
        self.store = try OfflineStore(
            store, in: directory,
            reach: ServerReach(performer, requiring: .internet, now: { begin + elapsed.withLock { $0 } }),
            limits: limits, now: now, telling: { told in news.withLock { $0.append(told) } })
    }

    static func with(
        _ limits: OfflineLimits = OfflineLimits(), _ body: (OfflineSite) async throws -> Void
    ) async throws {
        let site = try OfflineSite(limits)
        defer { try? FileManager.default.removeItem(atPath: site.home.path.string) }
        try await body(site)
    }

    /// What is tested.
    var files: FilesUseCases { remote.stored(in: store, clock: ManualClock()) }
    var root: ItemID { get async throws { try await served.root.id } }

    /// Time goes by, and what was found unreachable is asked again.
    func wait(_ time: Duration = .seconds(2)) { elapsed.withLock { $0 += time } }

    func be(_ weather: Weather) {
        self.weather.withLock { $0 = weather }
        wait()
    }

    /// The names of the files that wait to be uploaded.
    var uploads: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.uploads.string) }
    }
    var contents: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.contents.string) }
    }

    /// Sends what waits, once.
    func send() async throws -> SentChanges { try await files.pending.send(within: .zero) }

    /// Lets a deletion be refused, because another file, the one returned, has come into the place of the one that was
    /// to go, and has its id.
    func refusedDeletion() async throws -> Item {
        let old = try await put("old", named: "x")
        _ = try await files.list(root)
        be(.unreachable)
        try await files.delete(old.id)
        try await served.delete(old.id)
        let new = try await put("newer", named: "x")
        #expect(new.id == old.id)
        be(.fine)
        #expect(try await send().left.map(\.isConflict) == [true])
        return new
    }

    /// Keeps a folder to be made, as the first change is one, with a key of its own. The outbox is not told.
    func keepAsAnotherProcess(name: String) async throws {
        try await store.write { db in
            try db.execute(
                sql: """
                    INSERT INTO uplink_outbox (outbox, key, kind, payload, bytes, idempotencyKey, createdAt, attempts,
                        isFailed) SELECT outbox, 'another', kind, payload, bytes, 'another', createdAt, 0, 0
                        FROM uplink_outbox LIMIT 1;
                    """)
            try db.execute(
                sql: """
                    INSERT INTO change (entry, kind, key, id, folder, name, isFolder, seconds, nanoseconds, madeAt)
                        SELECT ?, kind, 'another', ?, folder, ?, isFolder, seconds, nanoseconds, madeAt
                        FROM change LIMIT 1
                    """, arguments: [db.lastInsertedRowID, ItemID.random().text, name])
        }
    }

    /// What somebody else does on the server.
    func put(_ text: String, named name: String, in folder: ItemID? = nil) async throws -> Item {
        let place = if let folder { folder } else { try await root }
        var upload = try await served.beginUpload(named: name, in: place)
        try upload.write(Data(text.utf8))
        return try await served.finish(upload, named: name, in: place)
    }

    /// A file's content as the server has it.
    func text(of id: ItemID) async throws -> String {
        guard case .bytes(let bytes) = try await served.content(of: id).content else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A file's content as the use cases give it.
    func read(_ id: ItemID) async throws -> String {
        let bytes = Locked<[UInt8]>([])
        try await files.read(id, of: nil, progress: nil) { piece in bytes.withLock { $0 += piece } }
        return String(decoding: bytes.withLock { $0 }, as: UTF8.self)
    }

    var remote: FilesUseCases {
        FilesUseCases(
            user: StandInReadUser { [self] in
                try await ask { User(firstName: "A", lastName: "B", root: try await served.root) }
            },
            list: StandInListFolder { [self] id in
                try await ask {
                    let (items, malformed) = (try await served.items(in: id), malformed.withLock { $0 })
                    let readable = items.filter { !malformed.contains($0.id) }
                    return Listing(items: readable, malformed: items.count - readable.count)
                }
            },
            read: StandInReadData(
                body: { [self] id in try await ask { Array(try await text(of: id).utf8) } },
                save: { [self] id, path in
                    try await ask {
                        try Data(try await text(of: id).utf8).write(to: URL(fileURLWithPath: path.string))
                    }
                }),
            makeFolder: StandInMakeFolder { [self] name, folder in
                try await ask { try await served.makeFolder(named: name, in: folder) }
            },
            upload: StandInUploadFile { [self] source, name, folder in
                let text =
                    switch source {
                    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
                    case .file(let path): String(decoding: try TemporaryDirectory.read(path), as: UTF8.self)
                    case .pieces: throw FilesError(.localFile, "pieces come once")
                    }
                return try await ask { try await put(text, named: name, in: folder) }
            }, delete: StandInDeleteItem { [self] id in try await ask { try await served.delete(id) } })
    }

    private func ask<Value>(_ body: () async throws -> Value) async throws -> Value {
        requests.withLock { $0 += 1 }
        let weather = weather.withLock { $0 }
        let lost = FilesError(
            HTTPClientError(.connectionFailed, phase: .connect, message: "no way (stub)"), while: "ask the server")
        switch weather {
        case .fine, .answersAreLost: break
        case .unreachable: throw lost
        case .status(let status): throw FilesError(status: status, while: "ask the server")
        }
        do {
            let value = try await body()
            if case .answersAreLost = weather { throw lost }
            return value
        } catch let error as ServiceError {
            throw FilesError(status: error.status, while: "ask the server")
        }
    }
}

extension Listing {
    /// The age of what was stored; nil where the server has answered.
    var age: Duration? {
        switch source {
        case .server: nil
        case .store(let answer): answer.age
        }
    }
}
#endif
