// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A context's state machine: its calls, and the callbacks that are to run.
///
/// Callbacks run one at a time, in the order in which they were posted. A call's last one is posted when the call is
/// removed; others of a call that is cancelled, or gone, are dropped.
struct CallMachine {
    typealias ID = UInt64

    /// The phase of a context's life.
    enum Phase: Equatable {
        /// Calls may begin.
        case open
        /// It is being destroyed: no call begins any more, and the existing ones come to their ends.
        case closing
    }

    /// A callback to run.
    struct Delivery: Sendable {
        /// What a callback reports.
        enum Kind: Sendable, Equatable {
            /// An event in the life of a call; dropped if the call is cancelled meanwhile.
            case event(ID)
            /// The end of a call.
            case end
            /// A message for the log.
            case log
        }

        let kind: Kind
        let run: @Sendable () -> Void
        /// Called instead of `run` for an event that is dropped.
        var drop: @Sendable () -> Void = {}
    }

    /// What a thread that runs callbacks has to do next.
    enum Step: Sendable {
        /// Run this, then call ``CallMachine/ran()``.
        case run(Delivery)
        /// Call this delivery's `drop`, and ask again.
        case drop(Delivery)
        /// Wait until the descriptor is readable.
        case wait
        /// Wait for the other thread that is running a callback.
        case waitForOther
        /// Nothing will ever come again.
        case finished
    }

    private struct Entry {
        let call: any Call
        var isCancelled = false
    }

    private(set) var phase = Phase.open
    private var calls: [ID: Entry] = [:]
    private var lastID: ID = 0
    private var queue = DeliveryQueue()
    /// The thread that is running a callback now.
    private(set) var runner: pthread_t?
    /// The call whose event that callback reports, and whether it was cancelled if it has ended meanwhile.
    private var reported: (id: ID, wasCancelled: Bool)?
    private var logsWaiting = 0
    private var logsLost = 0

    /// How many log messages may wait for a program that does not take them.
    static let maximumLogs = 1000

    /// Whether a thread that waits on the descriptor should ask for the next step.
    var isReadable: Bool { !queue.isEmpty || isFinished }

    /// Whether all calls have ended and nothing is left to run.
    private var isFinished: Bool { phase == .closing && calls.isEmpty && queue.isEmpty && runner == nil }

    /// How many calls there are.
    var count: Int { calls.count }

    // MARK: Calls

    /// Gives a call its number, unless the context is being destroyed.
    mutating func add(_ call: any Call) -> ID? {
        guard phase == .open else { return nil }
        lastID += 1
        calls[lastID] = Entry(call: call)
        return lastID
    }

    /// Ends a call. Only the first end counts.
    mutating func end(_ id: ID, _ last: Delivery?) {
        if reported?.id == id, let isCancelled = isCancelled(id) { reported?.wasCancelled = isCancelled }
        guard calls.removeValue(forKey: id) != nil, let last else { return }
        queue.append(last)
    }

    func call(_ id: ID) -> (any Call)? { calls[id]?.call }

    /// Marks a call as cancelled and returns it, to be cancelled; nil when there is none.
    mutating func cancel(_ id: ID) -> (any Call)? {
        guard let call = calls[id]?.call, call.isNamed else { return nil }
        calls[id]?.isCancelled = true
        return call
    }

    /// Whether a call is cancelled; nil when there is none.
    func isCancelled(_ id: ID) -> Bool? { calls[id].map { $0.isCancelled || phase == .closing } }

    /// The same for a program, to which a call stays cancelled until the callback that asks has returned.
    func isCancelledForProgram(_ id: ID) -> Bool? {
        let wasCancelled = reported.map { $0.id == id && $0.wasCancelled } ?? false
        return isCancelled(id) ?? (wasCancelled ? true : nil)
    }

    /// Begins the end of the context and returns its calls, to be stopped; nil when it has begun before.
    mutating func close() -> [any Call]? {
        guard phase == .open else { return nil }
        phase = .closing
        return calls.values.map(\.call)
    }

    // MARK: Callbacks

    /// Queues an event of a call; false when it is not to be reported any more.
    mutating func post(_ event: Delivery) -> Bool {
        guard case .event(let id) = event.kind, isCancelled(id) == false else { return false }
        queue.append(event)
        return true
    }

    /// Queues a message, unless too many are waiting; passes on how many were lost before it.
    mutating func log(_ make: (_ lost: Int) -> Delivery) {
        guard logsWaiting < Self.maximumLogs, phase == .open else { return logsLost += 1 }
        logsWaiting += 1
        queue.append(make(logsLost))
        logsLost = 0
    }

    /// The next step for a thread that runs callbacks.
    mutating func next(on thread: pthread_t) -> Step {
        if runner != nil { return .waitForOther }
        guard let delivery = queue.popFirst() else { return isFinished ? .finished : .wait }
        switch delivery.kind {
        case .event(let id) where isCancelled(id) != false: return .drop(delivery)
        case .log: logsWaiting -= 1
        case .event, .end: break
        }
        runner = thread
        if case .event(let id) = delivery.kind { reported = (id, wasCancelled: false) }
        return .run(delivery)
    }

    /// Records that the callback has returned.
    mutating func ran() { (runner, reported) = (nil, nil) }

    /// How many callbacks wait.
    var waiting: Int { queue.count }
}

/// A first-in, first-out queue.
private struct DeliveryQueue {
    private var elements: [CallMachine.Delivery?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ delivery: CallMachine.Delivery) { elements.append(delivery) }

    mutating func popFirst() -> CallMachine.Delivery? {
        guard head < elements.count else { return nil }
        defer {
            elements[head] = nil
            head += 1
            if head == elements.count || head >= 1024 && head * 2 > elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }
}
