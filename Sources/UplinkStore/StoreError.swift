// SPDX-License-Identifier: Apache-2.0
#if Store
/// Why the store could not be opened, or why one of its calls failed.
///
/// In a stream an error is an element, and the stream goes on.
public struct StoreError: Error, Sendable {
    /// The kind of an error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case cannotOpen, notADatabase, corrupt, newerSchema, readOnly, locked, diskFull, migrationFailed
            case readFailed, networkUnavailable, fetchFailed, unexpectedResponse, decodeFailed, writeFailed, cleared
            case invalidArgument, outboxFull, entryTooLarge, outboxInUse
        }
        private let kind: Kind

        /// The kind as one word, for logs and metrics.
        public var description: String { kind.rawValue }

        // MARK: The file

        /// The directory does not exist, or the file in it cannot be opened.
        public static let cannotOpen = Code(kind: .cannotOpen)
        /// The file is not an SQLite database, or is one with tables to which no migrator was ever applied.
        public static let notADatabase = Code(kind: .notADatabase)
        /// The file is a damaged database.
        public static let corrupt = Code(kind: .corrupt)
        /// A newer version of the program has changed the schema in a way that this one does not know.
        public static let newerSchema = Code(kind: .newerSchema)
        /// The file or its directory cannot be written.
        public static let readOnly = Code(kind: .readOnly)
        /// Another connection held the database for longer than the busy timeout.
        public static let locked = Code(kind: .locked)
        /// There is no room left for the database.
        public static let diskFull = Code(kind: .diskFull)
        /// A migration threw. It was rolled back; those before it stay applied.
        public static let migrationFailed = Code(kind: .migrationFailed)

        // MARK: Reading and syncing

        /// The query threw.
        public static let readFailed = Code(kind: .readFailed)
        /// The fetch never started, because the network (or a free slot of the performer) did not come in time, or the
        /// network cannot be watched.
        public static let networkUnavailable = Code(kind: .networkUnavailable)
        /// The fetch threw.
        public static let fetchFailed = Code(kind: .fetchFailed)
        /// The server answered with a status that brings neither data nor "not modified".
        public static let unexpectedResponse = Code(kind: .unexpectedResponse)
        /// The fetched data could not be decoded.
        public static let decodeFailed = Code(kind: .decodeFailed)
        /// The transaction failed and was rolled back.
        public static let writeFailed = Code(kind: .writeFailed)
        /// The key was cleared again and again while its sync ran, or everything was cleared, so what was fetched was
        /// not written.
        public static let cleared = Code(kind: .cleared)

        // MARK: The rest

        /// A setting is invalid.
        public static let invalidArgument = Code(kind: .invalidArgument)
        /// The outbox has as many entries or bytes as it may have. Nothing was added.
        public static let outboxFull = Code(kind: .outboxFull)
        /// The entry is larger than an entry may be. Nothing was added.
        public static let entryTooLarge = Code(kind: .entryTooLarge)
        /// The outbox is already being run, by this process or another one.
        public static let outboxInUse = Code(kind: .outboxInUse)
    }

    /// The kind of the error.
    public let code: Code
    /// What happened, and what to do about it.
    public let message: String
    /// The error that caused this one: GRDB's `DatabaseError`, a `NetworkOperationError`, an `HTTPClientError`, or what
    /// your own code threw (a fetch, a write, a query, a migration).
    public let underlyingError: (any Error)?

    /// Creates an error, for stand-ins and for fetches that want to say more.
    public init(_ code: Code, message: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlyingError = underlyingError
    }
}

extension StoreError {
    /// SQLite's texts end at a NUL, and what comes after it would be lost without a word.
    ///
    /// - Throws: `invalidArgument` that names the text.
    static func refuseNUL(in text: String, _ what: String) throws(StoreError) {
        guard text.utf8.contains(0) else { return }
        throw StoreError(
            .invalidArgument,
            message: "\(what) cannot contain a NUL: \(text.debugDescription); encode it, or leave it out")
    }
}

extension StoreError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
#endif
