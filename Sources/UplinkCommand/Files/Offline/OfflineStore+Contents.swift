// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import SystemPackage
import UplinkCore

extension OfflineStore {
    /// A content that can be read without the server.
    struct Kept: Sendable {
        let path: FilePath
        /// How long ago it was read; nil when the clock has been set back since.
        let age: Duration?
    }

    /// A hundred years: where the clock was not set when the content was read, it may be older than the program.
    private static let oldest = 100 * 366 * 86_400.0

    /// Stores a content, and makes room for it by removing the least recently used ones.
    ///
    /// - Parameter draft: The copy; nil if the content is too large to be stored, which is recorded.
    func keep(contentOf file: ItemID, size: Int64, _ draft: Draft?) async throws {
        try await draft?.seal()
        try await write { [self] db in
            let time = now().timeIntervalSince1970
            var gone = try String.fetchAll(
                db, sql: "SELECT file FROM content WHERE item = ? AND file IS NOT NULL", arguments: [file.text])
            try db.execute(
                sql: "INSERT OR REPLACE INTO content (item, file, size, readAt, usedAt) VALUES (?, ?, ?, ?, ?)",
                arguments: [file.text, draft?.name, size, time, time])
            gone += try Self.makeRoom(upTo: limits.contents, in: db)
            try db.execute(
                sql: """
                    DELETE FROM content WHERE file IS NULL AND item NOT IN
                        (SELECT item FROM content WHERE file IS NULL ORDER BY readAt DESC LIMIT 10000)
                    """)
            remove(gone, from: contents, after: db)
        }
        draft?.keep()
    }

    private static func makeRoom(upTo limit: Int64, in db: Database) throws -> [String] {
        var total = try Int64.fetchOne(db, sql: "SELECT TOTAL(size) FROM content WHERE file IS NOT NULL") ?? 0
        guard total > limit else { return [] }
        let all = try Row.fetchAll(
            db, sql: "SELECT item, file, size FROM content WHERE file IS NOT NULL ORDER BY usedAt, rowid")
        var gone: [String] = []
        for oldest in all {
            guard total > limit else { break }
            gone.append(oldest["file"])
            try db.execute(sql: "DELETE FROM content WHERE item = ?", arguments: [oldest["item"] as String])
            total -= oldest["size"]
        }
        return gone
    }

    /// Returns a stored content.
    ///
    /// - Parameter reason: Why it does not come from the server.
    /// - Throws: ``FilesError`` that says why there is none.
    func content(of file: ItemID, because reason: String) async throws -> Kept {
        let found = try await read { db -> (file: String?, size: Int64, readAt: Double)? in
            try Row.fetchOne(db, sql: "SELECT file, size, readAt FROM content WHERE item = ?", arguments: [file.text])
                .map { ($0["file"], $0["size"], $0["readAt"]) }
        }
        // A full disk keeps nobody from reading.
        try? await write { [self] db in
            try db.execute(
                sql: "UPDATE content SET usedAt = ? WHERE item = ?",
                arguments: [now().timeIntervalSince1970, file.text])
        }
        guard let found else {
            throw FilesError(.unreachable, "\(reason); and its content is not kept, because it was not read before")
        }
        guard let name = found.file else {
            let sizes = [found.size, limits.content].map { "\(ByteCount(Int(clamping: $0)))" }
            throw FilesError(
                .unreachable,
                "\(reason); and its content is not kept: it has \(sizes[0]), and \(sizes[1]) of a file are kept")
        }
        let age = now().timeIntervalSince1970 - found.readAt
        return Kept(path: contents.path(of: name), age: age < 0 ? nil : .seconds(min(age, Self.oldest)))
    }
}
#endif
