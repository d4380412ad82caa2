// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct JSONTests {
    private let transport = StubTransport()
    private let url = "https://example.org/words"

    private func sync(_ key: String = "a", url: String? = nil, headers: HTTPFields = [:]) -> StoreSync {
        .json(
            key, client: HTTPClient(transport: transport), url: url ?? self.url, headers: headers, as: [String].self,
            write: { db, words in try Lists.write(words, to: key, db) }, erase: { db in try Lists.erase(db, key) })
    }

    private func answer(
        _ words: String, etag: String? = "\"1\"", modified: String? = nil, date: String? = nil
    ) -> StubTransport.Answer {
        var fields = HTTPFields()
        fields[.eTag] = etag
        fields[.lastModified] = modified
        fields[.date] = date
        return .response(headers: fields, pieces: [Array(words.utf8)])
    }

    private var notModified: StubTransport.Answer { .text("", status: .notModified) }

    @Test func theSecondRequestIsConditionalAnd304IsNoNews() async throws {
        let store = try Store.lists()
        let (modified, date) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT")
        transport.answer(url, answer("[\"x\"]", modified: modified, date: date), notModified)
        #expect(try await store.sync(sync()) == .written)
        #expect(try await store.sync(sync()) == .noNews)
        #expect(try await store.words() == ["x"])
        let fields = transport.requests.map(\.head.headerFields)
        #expect(fields[0][.ifNoneMatch] == nil)
        #expect(fields[0][.ifModifiedSince] == nil)
        #expect(fields[1][.ifNoneMatch] == "\"1\"")
        #expect(fields[1][.ifModifiedSince] == modified)
    }

    /// The data may change again in that second, and the server would go on to say 304 (RFC 9110, section 8.8.2.2).
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:36 GMT", "Sun, 06 Nov 1994 08:49:36 GMT", "soon", nil,
    ])
    func whatHasJustBeenModifiedIsAskedForUnconditionally(date: String?) async throws {
        let store = try Store.lists()
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        transport.answer(
            url, answer("[\"x\"]", etag: nil, modified: modified, date: date),
            answer("[\"y\"]", etag: nil, modified: modified, date: "Sun, 06 Nov 1994 08:50:37 GMT"), notModified)
        for outcome in [StoreSyncOutcome.written, .written, .noNews] {
            #expect(try await store.sync(sync()) == outcome)
        }
        #expect(transport.requests.map { $0.head.headerFields[.ifModifiedSince] } == [nil, nil, modified])
        #expect(try await store.words() == ["y"])
    }

    /// What there is in one language is no news in another.
    @Test func validatorsAreOfOneRepresentation() async throws {
        let store = try Store.lists()
        transport.answer(url, answer("[\"x\"]"), answer("[\"y\"]"), notModified)
        let japanese: HTTPFields = [.acceptLanguage: "ja"]
        #expect(try await store.sync(sync()) == .written)
        #expect(try await store.sync(sync(headers: japanese)) == .written)
        #expect(try await store.words() == ["y"])
        #expect(try await store.sync(sync(headers: [.acceptLanguage: "ja", .userAgent: "a"])) == .noNews)
        #expect(transport.requests.map { $0.head.headerFields[.ifNoneMatch] } == [nil, nil, "\"1\""])
    }

    @Test func validatorsAreOfOneKeyAndOneURL() async throws {
        let store = try Store.lists()
        let other = "https://example.org/other"
        transport.answer(url, answer("[\"x\"]"))
        transport.answer(other, answer("[\"y\"]", etag: nil))
        try await store.sync(sync())
        try await store.sync(sync("b"))
        try await store.sync(sync(url: other))
        try await store.sync(sync())
        #expect(transport.requests.allSatisfy { $0.head.headerFields[.ifNoneMatch] == nil })
        try await store.sync(sync())
        #expect(transport.requests.last?.head.headerFields[.ifNoneMatch] == "\"1\"")
    }

    /// Another version of the resource may be older, and a tag is unique for one resource only.
    @Test func a304OfAnotherResourceIsNotNoNews() async throws {
        let store = try Store.lists()
        let (one, two) = ("https://example.org/1", "https://example.org/2")
        transport.answer(url, .redirect(to: one), .redirect(to: one), .redirect(to: two))
        transport.answer(one, answer("[\"x\"]"), notModified)
        transport.answer(two, notModified, answer("[\"y\"]"), notModified)
        for outcome in [StoreSyncOutcome.written, .noNews, .written, .noNews] {
            #expect(try await store.sync(sync()) == outcome)
        }
        #expect(try await store.words() == ["y"])
        let tags = transport.requests.filter { $0.url == two }.map { $0.head.headerFields[.ifNoneMatch] }
        #expect(tags == ["\"1\"", nil, "\"1\""])
    }

    @Test func validatorsGoWithTheData() async throws {
        let store = try Store.lists()
        transport.answer(url, answer("[\"x\"]"))
        try await store.sync(sync())
        try await store.clear(sync())
        try await store.sync(sync())
        #expect(transport.requests.last?.head.headerFields[.ifNoneMatch] == nil)
        #expect(try await store.words() == ["x"])
    }

    /// The request went out with the data's validator; the data was erased before the answer came.
    @Test func a304AroundAClearDoesNotLeaveTheDataErased() async throws {
        let store = try Store.lists()
        transport.answer(url, answer("[\"x\"]"), notModified, answer("[\"x\"]", etag: "\"2\""))
        try await store.sync(sync())
        let gate = StubFetch(0)
        gate.hold()
        let slow = StoreSync(
            key: "a", networkLimit: .zero, requirement: .internet, minimumInterval: .zero,
            erase: { db in try Lists.erase(db) }
        ) { [inner = sync()] validators in
            let news = try await inner.fetch(validators)
            _ = try await gate()
            return news
        }
        let asker = Task { try await store.sync(slow) }
        try await eventually { gate.running == 1 }
        try await store.clear(slow)
        gate.release()
        #expect(try await asker.value == .written)
        #expect(try await store.words() == ["x"])
        #expect(transport.requests.map { $0.head.headerFields[.ifNoneMatch] } == [nil, "\"1\"", nil])
    }

    @Test func validatorsAreNotKeptWhenTheWriteFails() async throws {
        let store = try Store.lists()
        transport.answer(url, answer("[\"x\"]"))
        let broken = StoreSync.json(
            "a", client: HTTPClient(transport: transport), url: url, as: [String].self,
            write: { _, _ in throw Broken() })
        await #expect(throws: StoreError.self) { try await store.sync(broken) }
        try await store.sync(sync())
        #expect(transport.requests.last?.head.headerFields[.ifNoneMatch] == nil)
    }

    @Test func aMigrationForgetsValidators() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending("db")
        transport.answer(url, answer("[\"x\"]"))
        func open(_ migrator: DatabaseMigrator) async throws -> Store {
            try await Store.open(path, migrator: migrator, performer: StubNetworkOperationPerformer())
        }
        try await open(Lists.migrator).sync(sync())
        var migrator = Lists.migrator
        try await open(migrator).sync(sync())
        #expect(transport.requests.last?.head.headerFields[.ifNoneMatch] == "\"1\"")
        migrator.registerMigration("empty") { try $0.execute(sql: "DELETE FROM word") }
        let store = try await open(migrator)
        try await store.sync(sync())
        #expect(transport.requests.last?.head.headerFields[.ifNoneMatch] == nil)
        #expect(try await store.words() == ["x"])
    }

    /// The first migration is committed, the second is not: as if the process had died between the two.
    @Test func aMigrationForgetsValidatorsAlsoIfALaterOneFails() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending("db")
        transport.answer(url, answer("[\"x\"]"))
        func open(_ migrator: DatabaseMigrator) async throws -> Store {
            try await Store.open(path, migrator: migrator, performer: StubNetworkOperationPerformer())
        }
        try await open(Lists.migrator).sync(sync())
        var migrator = Lists.migrator
        migrator.registerMigration("empty") { try $0.execute(sql: "DELETE FROM word") }
        var broken = migrator
        broken.registerMigration("broken") { _ in throw Broken() }
        await #expect(throws: StoreError.self) { _ = try await open(broken) }
        let store = try await open(migrator)
        #expect(try await store.words() == [])
        try await store.sync(sync())
        #expect(transport.requests.last?.head.headerFields[.ifNoneMatch] == nil)
        #expect(try await store.words() == ["x"])
    }

    /// A query may be a signature, and messages end up in logs.
    @Test func noQueryIsShownOrStored() async throws {
        let store = try Store.lists()
        let url = "\(url)?token=secret"
        transport.answer(
            url, answer("[\"x\"]"), notModified, .text("oops", status: .internalServerError), .text("{not json"),
            .text(String(repeating: "[", count: 513)))
        #expect(try await store.sync(sync(url: url)) == .written)
        #expect(try await store.sync(sync(url: url)) == .noNews)
        for _ in 0..<3 {
            do {
                try await store.sync(sync(url: url))
                Issue.record("there was no error")
            } catch let error as StoreError {
                #expect(error.message.contains("https://example.org/words?…") && !error.message.contains("secret"))
            }
        }
        let rows = try await store.database.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM uplink_sync").map(\.description)
        }
        #expect(!rows.isEmpty && !rows.contains { $0.contains("secret") })
    }

    @Test func otherAnswersAreErrorsAndChangeNothing() async throws {
        let store = try Store.lists()
        transport.answer(
            url, answer("[\"x\"]", etag: nil), .text("oops", status: .internalServerError), .text("{not json"),
            .text(String(repeating: "[", count: 513)), notModified, .text("[\"part\"]", status: .partialContent))
        try await store.sync(sync())
        let codes: [StoreError.Code] = [
            .unexpectedResponse, .decodeFailed, .decodeFailed, .unexpectedResponse, .unexpectedResponse,
        ]
        for code in codes {
            do {
                try await store.sync(sync())
                Issue.record("there was no error")
            } catch let error as StoreError {
                #expect(error.code == code)
            }
        }
        #expect(try await store.words() == ["x"])
    }
}
#endif
