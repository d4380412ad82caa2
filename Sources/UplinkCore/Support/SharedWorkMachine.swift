// SPDX-License-Identifier: Apache-2.0

/// The state machine of ``SharedWork``: who waits for which work. Pure; waiters and tasks are values.
struct SharedWorkMachine<Key: Hashable & Sendable, Value: Sendable, Waiter: Sendable, Work: Sendable>: Sendable {
    /// A caller's place among those that wait.
    struct Place: Sendable, Hashable {
        let work: UInt64
        let number: UInt64
    }

    private enum Seat: Sendable {
        /// Not suspended yet.
        case taken
        /// Suspended.
        case waiting(Waiter)
    }

    private struct Shared: Sendable {
        let key: Key
        var seats: [UInt64: Seat] = [:]
        var work: Work?
        var result: Result<Value, any Error>?
        /// Whether the result is that of ``end(_:)``, and the work may go on.
        var isEnded = false
    }

    private var all: [UInt64: Shared] = [:]
    private var current: [Key: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    /// Whether nothing is under way or kept.
    var isEmpty: Bool { all.isEmpty && current.isEmpty }
    /// The number of places taken.
    var count: Int { all.values.reduce(0) { $0 + $1.seats.count } }

    /// Takes a place. If `isFirst` is true, start the work and pass it to ``started(_:for:)``.
    mutating func join(_ key: Key) -> (place: Place, isFirst: Bool) {
        lastNumber += 1
        let isFirst = current[key] == nil
        let work = current[key] ?? lastNumber
        current[key] = work
        all[work, default: Shared(key: key)].seats[lastNumber] = .taken
        return (Place(work: work, number: lastNumber), isFirst)
    }

    /// The work is running. Returns it, to be cancelled, if nobody wants it any more, or it has been ended.
    mutating func started(_ work: Work, for place: Place) -> Work? {
        guard let shared = all[place.work], !shared.seats.isEmpty, !shared.isEnded else { return work }
        if shared.result == nil { all[place.work]?.work = work }
        return nil
    }

    /// A caller has suspended. Returns false when there is no need to wait.
    mutating func park(_ place: Place, _ waiter: Waiter) -> Bool {
        guard all[place.work]?.seats[place.number] != nil, all[place.work]?.result == nil else { return false }
        all[place.work]?.seats[place.number] = .waiting(waiter)
        return true
    }

    /// Gives up a place. Returns the waiter to wake, and the work to cancel if nobody waits for it any more.
    mutating func leave(_ place: Place) -> (waiter: Waiter?, work: Work?) {
        guard let seat = all[place.work]?.seats.removeValue(forKey: place.number) else { return (nil, nil) }
        let waiter: Waiter? = if case .waiting(let waiter) = seat { waiter } else { nil }
        guard let shared = all[place.work], shared.seats.isEmpty else { return (waiter, nil) }
        remove(place.work, shared)
        return (waiter, shared.work)
    }

    /// The work is done. Returns the waiters, which then take the result.
    mutating func finished(_ place: Place, _ result: Result<Value, any Error>) -> [Waiter] {
        // Nobody wants it any more, or it has been ended.
        guard var shared = all[place.work], shared.result == nil else { return [] }
        if current[shared.key] == place.work { current[shared.key] = nil }
        shared.result = result
        shared.work = nil
        var waiters: [Waiter] = []
        for (number, seat) in shared.seats {
            if case .waiting(let waiter) = seat { waiters.append(waiter) }
            shared.seats[number] = .taken
        }
        all[place.work] = shared
        return waiters
    }

    /// Ends what is under way for some keys with an error. Returns the waiters, which then take it, and the work to
    /// cancel.
    mutating func end(_ error: (Key) -> (any Error)?) -> (waiters: [Waiter], work: [Work]) {
        var ended: (waiters: [Waiter], work: [Work]) = ([], [])
        for (number, shared) in all where shared.result == nil {
            guard let error = error(shared.key) else { continue }
            if let work = shared.work { ended.work.append(work) }
            ended.waiters += finished(Place(work: number, number: number), .failure(error))
            all[number]?.isEnded = true
        }
        return ended
    }

    /// Returns the result for a place that was not given up, and frees the place.
    mutating func take(_ place: Place) -> Result<Value, any Error>? {
        // In place: a copy of the seats for each of many callers would take time with the square of their number.
        guard let result = all[place.work]?.result,
            all[place.work]?.seats.removeValue(forKey: place.number) != nil
        else { return nil }
        if let shared = all[place.work], shared.seats.isEmpty { remove(place.work, shared) }
        return result
    }

    private mutating func remove(_ work: UInt64, _ shared: Shared) {
        all[work] = nil
        if current[shared.key] == work { current[shared.key] = nil }
    }
}
