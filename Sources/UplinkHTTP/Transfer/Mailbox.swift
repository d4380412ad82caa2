// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes
package import UplinkCore

/// The object that fills mailboxes, as their readers' side sees it; each is known to it by an id.
package protocol MailboxSupplier: AnyObject, Sendable {
    /// The paused transfer of a mailbox may go on.
    func demand(for id: UInt64)

    /// The transfer of a mailbox must end. Called at most once for each, on any thread.
    func stop(_ id: UInt64)

    /// Whether the caller is on the thread that fills the mailboxes.
    var isOnFillingThread: Bool { get }
}

/// The meeting place of an engine's thread and a response's reader. Nobody is resumed while a lock is held, and only
/// the engine's side resumes.
///
/// A continuation says "look", and carries no value: a value would pass between threads through the runtime, which
/// ThreadSanitizer does not see when a resume overtakes the suspension.
///
/// What waits here holds the mailbox and nothing else, because a waiting task keeps all of that: closures that capture
/// a single object need no room of their own.
package final class Mailbox: Sendable {
    private let machine: Locked<MailboxMachine<Suspension>>
    private let budget: BufferBudget?
    private let id: UInt64
    private let supplier: any MailboxSupplier

    /// - Parameters:
    ///   - id: What the supplier knows it by.
    ///   - lowMark: The most bytes that may be left when a paused transfer continues.
    ///   - plenty: The number of bytes for which a reader is always woken, however much arrives; nil for the low mark.
    ///   - budget: Counts the bytes that wait here.
    package init(
        _ id: UInt64, of supplier: any MailboxSupplier, lowMark: Int, plenty: Int? = nil,
        budget: BufferBudget? = nil
    ) {
        machine = Locked(MailboxMachine(lowMark: lowMark, plenty: plenty))
        (self.id, self.supplier, self.budget) = (id, supplier, budget)
    }

    deinit { budget?.add(-bytes) }

    /// Whether the engine's side is over, and nothing more will come.
    package var isOver: Bool { machine.withLock { $0.isOver } }

    /// The bytes waiting for the reader.
    package var bytes: Int { machine.withLock { $0.bytes } }

    // MARK: The reader's side

    /// Returns the next chunk. A reader on another thread than the supplier may be left waiting briefly while much
    /// arrives, because waking it is expensive.
    package nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        if Task.isCancelled { cancel() }
        while true {
            if let next = try take() { return next }
            await wait()
        }
    }

    /// Returns the whole body, from where it has been read to. Its bytes are copied once, from the engine's memory.
    ///
    /// - Parameters:
    ///   - maximum: The most bytes to accept.
    ///   - expected: How many bytes there will be, if that is known.
    @inline(__always)
    package nonisolated(nonsending) func gather(
        upTo maximum: Int, expecting expected: Int64?
    ) async throws -> GatheredBody {
        if Task.isCancelled { cancel() }
        begin(upTo: maximum, expecting: expected)
        while true {
            if let body = try takeGathered() { return body }
            await wait()
        }
    }

    /// Returns the whole body, from where it has been read to, if there is nothing to wait for.
    ///
    /// - Parameter maximum: The most bytes to accept.
    package func gatherAtOnce(upTo maximum: Int) -> GatheredBody? {
        guard !Task.isCancelled else { return nil }
        return counting { $0.gatherAtOnce(upTo: maximum) }
    }

    // Inlined, these would take room where the body is awaited.

    /// Returns what ``next()`` is to return; nil to wait.
    @inline(never)
    private func take() throws -> HTTPBody.Chunk?? {
        switch counting({ $0.take() }) {
        case .chunk(let chunk, let isDemanded):
            if isDemanded { supplier.demand(for: id) }
            return .some(chunk)
        case .end: return .some(nil)
        case .failure(let error): throw error
        case .wait: return nil
        case .busy: throw Self.busy
        }
    }

    @inline(never)
    private func takeGathered() throws -> GatheredBody? {
        switch machine.withLock({ $0.takeGathered() }) {
        case .body(let body): return body
        case .failure(let error): throw error
        case .wait: return nil
        case .busy: throw Self.busy
        }
    }

    @inline(never)
    private func begin(upTo maximum: Int, expecting expected: Int64?) {
        // Making room for a large body may take the system some time: done without the lock.
        let isLarge = (expected ?? 0) > WholeBodyBuffer.large
        let buffer = isLarge ? WholeBodyBuffer(upTo: maximum, expecting: expected) : nil
        let isDemanded = counting { $0.gather(upTo: maximum, expecting: expected, into: buffer) }
        if isDemanded { supplier.demand(for: id) }
    }

    private static let busy = HTTPClientError(
        .bodyAlreadyUsed, phase: .body, requestDisposition: .responseStarted,
        message: "the body's iterator is asked twice at once; ask it from one task")

    /// The reader wants no more.
    package func cancel() {
        if counting({ $0.cancel() }) { supplier.stop(id) }
    }

    /// Whether the reader wants no more.
    package var isCancelled: Bool { machine.withLock { $0.isCancelled } }

    /// Takes the head, or the reason why there is none, once the task that waits for it has been resumed.
    package func takeHead() -> Result<ReceivedHead, any Error>? {
        machine.withLock { machine in
            defer { machine.head = nil }
            return machine.head
        }
    }

    /// The trailer fields, once the engine's side is over.
    package var trailerFields: HTTPFields? { machine.withLock { $0.trailerFields } }

    private nonisolated(nonsending) func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (suspension, isFar) = (Suspension(continuation), !supplier.isOnFillingThread)
                if !machine.withLock({ $0.park(suspension, isFar: isFar) }) { suspension.resume() }
            }
        } onCancel: {
            cancel()
        }
    }

    // MARK: The engine's side

    /// Leaves the head, or the reason why there is none, for the task that waits for it and is resumed afterwards.
    package func leave(_ head: Result<ReceivedHead, any Error>) { machine.withLock { $0.head = head } }

    /// Adds bytes, which are copied. ``flush(isPaused:untilEmpty:now:)`` wakes the reader, once for many of these.
    ///
    /// - Parameter expected: How many bytes there will be including these, if that is known.
    package func append(_ bytes: UnsafeRawBufferPointer, expecting expected: Int64?, from pool: SlabPool) {
        counting { $0.append(bytes, expecting: expected, from: pool) }
    }

    /// Offers bytes, which are copied if they are accepted.
    ///
    /// - Parameters:
    ///   - expected: As in ``append(_:expecting:from:)``.
    ///   - accepts: Decides whether to keep them, given how many already wait for the reader. Called once, with the
    ///     lock held; not called if the reader wants no more.
    package func offer(
        _ bytes: UnsafeRawBufferPointer, expecting expected: Int64?, from pool: SlabPool,
        if accepts: (_ buffered: Int) -> Bool
    ) {
        let change = machine.withLock { machine in
            let before = machine.bytes
            if !machine.refusesMore, accepts(before) { machine.append(bytes, expecting: expected, from: pool) }
            return machine.bytes - before
        }
        budget?.add(change)
    }

    /// Wakes the reader if there is something to read, and notes whether the transfer has been paused.
    ///
    /// - Parameters:
    ///   - isPaused: Whether the transfer waits for demand.
    ///   - untilEmpty: Whether there is no demand before everything has been taken, because memory is short.
    ///   - now: The current time; nil if the reader must not be held back.
    /// - Returns: The reader to resume, whether a paused transfer may continue immediately, and whether to call this
    ///   again after ``moment`` because the reader is held back.
    package func flush(
        isPaused: Bool, untilEmpty: Bool = false, now: Int64? = nil
    ) -> (resumption: Suspension?, demand: Bool, isHeldBack: Bool) {
        let delivery = machine.withLock { $0.flush(isPaused: isPaused, untilEmpty: untilEmpty, now: now) }
        return (delivery.waiter, delivery.demand, delivery.isHeldBack)
    }

    /// The time after which to look again at a reader that is held back.
    package static var moment: Duration { .nanoseconds(MailboxMachine<Suspension>.moment) }

    /// Ends the body, once; it is complete when `error` is nil.
    package func finish(throwing error: (any Error)?, trailerFields: HTTPFields = [:]) -> Suspension? {
        machine.withLock { machine in
            machine.trailerFields = trailerFields
            return machine.finish(error.map { .failed($0) } ?? .complete).waiter
        }
    }

    /// Changes the machine and counts the bytes that this adds or frees.
    private func counting<Result: Sendable>(_ body: (inout MailboxMachine<Suspension>) -> Result) -> Result {
        let (result, change) = machine.withLock { machine in
            let before = machine.bytes
            let result = body(&machine)
            return (result, machine.bytes - before)
        }
        budget?.add(change)
        return result
    }
}
