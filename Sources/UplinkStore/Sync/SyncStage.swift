// SPDX-License-Identifier: Apache-2.0
#if Store
/// How far a sync is.
public enum SyncStage: Int, Sendable, Hashable, Comparable {
    /// It has begun, and asks for the network.
    case starting
    /// It waits for the network, which is not there or not as required.
    case waiting
    /// The fetch or the write is running.
    case loading

    /// The order in which a sync goes through the stages.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A stage that a sync has reached; the later one has the higher number.
struct SyncStep: Sendable, Equatable {
    let number: UInt64
    let stage: SyncStage

    static let first = SyncStep(number: 0, stage: .starting)
}

/// What a sync left in the database.
struct SyncReceipt: Sendable, Equatable {
    /// The record's number after it.
    let number: Int64
    /// Whether the fetch brought data.
    let isNews: Bool
    /// How old the last sync was, if it was recent enough that nothing was fetched.
    var age: Duration?
}
#endif
