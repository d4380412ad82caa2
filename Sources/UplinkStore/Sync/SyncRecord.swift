// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB

/// What is known about a key's syncs: written in the same transaction as their data, read together with the values.
struct SyncRecord: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "uplink_sync"
    /// The row whose epoch counts how often everything was cleared.
    static let idOfAll: Int64 = 0

    let id: Int64
    let key: String
    /// Rises with every sync that succeeds and every clearing, and never falls.
    var number: Int64 = 0
    /// Rises with every clearing, and each time the key is outdated.
    var epoch: Int64 = 0
    /// When the last sync succeeded, in seconds since 1970 on the wall clock; nil when the stored data counts as never
    /// synced.
    var succeededAt: Double?
    /// The URL that was asked, and the one that answered with the validators after redirects.
    var url: String?
    var answeredBy: String?
    var etag: String?
    var lastModified: String?

    init(key: String, id: Int64? = nil) {
        self.id = id ?? Self.id(of: key)
        self.key = key
    }

    var validators: SyncValidators? {
        get {
            guard let url, let answeredBy else { return nil }
            return SyncValidators(url: url, answeredBy: answeredBy, etag: etag, lastModified: lastModified)
        }
        set {
            (url, answeredBy) = (newValue?.url, newValue?.answeredBy)
            (etag, lastModified) = (newValue?.etag, newValue?.lastModified)
        }
    }

    /// A number for the key (FNV-1a), because GRDB observes single rows by their numbers only.
    ///
    /// Two keys with the same number would overwrite each other's record, and lose no more than a time and validators.
    static func id(of key: String) -> Int64 {
        let hash = key.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
        return Int64(bitPattern: hash == UInt64(idOfAll) ? 1 : hash)
    }

    /// The key's record, or an empty one; only this row is observed.
    ///
    /// - Throws: ``StoreError`` with `invalidArgument` for a key that would not be stored as it is; what GRDB throws.
    static func of(_ key: String, in db: Database) throws -> Self {
        try StoreError.refuseNUL(in: key, "the key of a sync")
        guard let found = try fetchOne(db, key: id(of: key)) else { return Self(key: key) }
        guard found.key != key else { return found }
        var empty = Self(key: key)
        (empty.number, empty.epoch) = (found.number, found.epoch)
        return empty
    }

    /// Makes this the record of a key that holds nothing any more.
    mutating func clear() {
        number &+= 1
        epoch &+= 1
        forgetSyncs()
    }

    /// Makes the stored data count as never synced.
    mutating func forgetSyncs() {
        succeededAt = nil
        validators = nil
    }

    /// Clears the records of all keys, also of those that have none yet.
    static func clearAll(_ db: Database) throws {
        var all = try fetchOne(db, key: idOfAll) ?? Self(key: "", id: idOfAll)
        all.epoch &+= 1
        try all.save(db)
        try db.execute(
            sql: """
                UPDATE uplink_sync SET number = number + 1, epoch = epoch + 1, \(forgotten) WHERE id <> ?
                """, arguments: [idOfAll])
    }

    /// Makes the stored data of all keys count as never synced: it is not fresh, and each key's next fetch is
    /// unconditional.
    static func forgetSyncs(_ db: Database) throws {
        try db.execute(sql: "UPDATE uplink_sync SET \(forgotten)")
    }

    /// Without `answeredBy`, which a database of an earlier version does not have, and which says nothing without a
    /// URL.
    private static let forgotten = "succeededAt = NULL, url = NULL, etag = NULL, lastModified = NULL"
}

/// What a server said about the data's version (RFC 9110, section 8.8).
struct SyncValidators: Sendable, Equatable {
    /// The fingerprint of the URL that was asked, which may hold secrets in its query.
    let url: String
    /// That of the resource that they belong to, to which redirects have led.
    let answeredBy: String
    var etag: String?
    var lastModified: String?
}
#endif
