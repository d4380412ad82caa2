// SPDX-License-Identifier: Apache-2.0

/// A queue of events that nobody has read yet: pure; waiters are values.
struct EventQueueMachine<Waiter: Sendable>: Sendable {
    /// What a reader gets.
    enum Taking: Sendable {
        /// The oldest event.
        case event(HTTPEvent)
        /// There are no more events.
        case end
        /// There is no event yet: park.
        case wait
    }

    private let maximum: Int
    private var events: [HTTPEvent] = []
    private var isClaimed = false
    private var hasEnded = false
    private var waiters: [UInt64: Waiter] = [:]
    private var lastReader: UInt64 = 0
    /// The number of events dropped.
    private(set) var missed = 0

    init(maximum: Int) { self.maximum = maximum }

    /// Returns whether the caller is the first.
    mutating func claim() -> Bool {
        defer { isClaimed = true }
        return !isClaimed
    }

    /// Adds an event, and returns the waiters to wake. After the last event nothing is added.
    mutating func send(_ event: HTTPEvent) -> [Waiter] {
        guard !hasEnded else { return [] }
        if events.count == maximum {
            events.removeFirst()
            missed += 1
        }
        events.append(event)
        hasEnded = event.isLast
        defer { waiters.removeAll() }
        return Array(waiters.values)
    }

    /// Returns a number for a reader that may wait.
    mutating func enter() -> UInt64 {
        lastReader += 1
        return lastReader
    }

    /// A reader asks for an event.
    mutating func take() -> Taking {
        guard !events.isEmpty else { return hasEnded ? .end : .wait }
        return .event(events.removeFirst())
    }

    /// A reader has suspended. Returns false when there is no need to wait.
    mutating func park(_ reader: UInt64, _ waiter: Waiter, isCancelled: Bool) -> Bool {
        guard !isCancelled, events.isEmpty, !hasEnded else { return false }
        waiters[reader] = waiter
        return true
    }

    /// A reader no longer waits. Returns its waiter if it did.
    mutating func leave(_ reader: UInt64) -> Waiter? { waiters.removeValue(forKey: reader) }
}

extension HTTPEvent {
    /// Whether it is the last event.
    var isLast: Bool {
        switch self {
        case .finished, .failed: true
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying: false
        }
    }
}
