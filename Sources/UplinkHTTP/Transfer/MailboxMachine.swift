// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// What stands between the engine that brings bytes and the one reader who takes chunks: pure; waiters are values.
///
/// Bytes that nobody has taken yet gather in few, full chunks, so that a server that drips costs no more memory than
/// one that pours.
struct MailboxMachine<Waiter: Sendable> {
    /// How the engine's side ended.
    enum End: Sendable {
        case complete
        case failed(any Error)
    }

    /// What a reader gets.
    enum Taking: Sendable {
        /// A chunk. With `demand`, tell the engine to go on.
        case chunk(HTTPBody.Chunk, demand: Bool)
        /// The body is over.
        case end
        /// It failed.
        case failure(any Error)
        /// Nothing is here yet: park.
        case wait
        /// Somebody else waits already.
        case busy
    }

    /// What the engine's side has to do after bringing something.
    struct Delivery: Sendable {
        /// Wake this reader, who then takes.
        var waiter: Waiter?
        /// The reader has room: the transfer that was just reported as paused may go on.
        var demand = false
    }

    /// What a reader gets who wants the body as a whole.
    enum Gathering: Sendable {
        /// All of it.
        case whole([UInt8])
        /// It is larger than the reader accepts; so many bytes have come.
        case tooLarge(received: Int)
        /// It failed.
        case failure(any Error)
        /// More is to come: park.
        case wait
        /// Somebody else waits already.
        case busy
    }

    private let lowMark: Int
    private var chunks: [HTTPBody.Chunk] = []
    /// What the reader takes before these, the last one first; of what has been taken, nothing is kept here.
    private var next: [HTTPBody.Chunk] = []
    /// What is being filled, behind the chunks.
    private var tail: Slab?
    private var hasFilledSlab = false
    /// Where the reader has the whole body gathered; there are no chunks then.
    private var vessel: BodyVessel?
    private var waiter: Waiter?
    private var end: End?
    /// The engine holds the transfer up until there is demand.
    private var isPaused = false
    /// How few bytes are demand, while the transfer is held up.
    private var mark = 0
    private(set) var isCancelled = false
    /// Bytes that wait for the reader.
    private(set) var bytes = 0
    /// The head, or why there is none, until whoever waits for it has it.
    var head: Result<ReceivedHead, any Error>?
    /// What has come behind the body.
    var trailerFields: HTTPFields?

    init(lowMark: Int) { self.lowMark = lowMark }

    /// Whether the engine's side is over.
    var isOver: Bool { end != nil }

    /// The reader asks.
    mutating func take() -> Taking {
        guard waiter == nil else { return .busy }
        guard !isCancelled else { return end == nil ? .wait : .failure(CancellationError()) }
        if let chunk = takeFirst() {
            bytes -= chunk.count
            return .chunk(chunk, demand: takeDemand())
        }
        switch end {
        case .complete: return .end
        case .failed(let error): return .failure(error)
        case nil: return .wait
        }
    }

    /// The reader has suspended. False when it need not: there is something to take.
    mutating func park(_ waiter: Waiter) -> Bool {
        guard self.waiter == nil, end == nil, isCancelled || !isReadable else { return false }
        self.waiter = waiter
        return true
    }

    /// The engine brings bytes; a waiter is woken by ``flush(isPaused:)``.
    ///
    /// - Parameter expected: How many there will be, these included, where that is known.
    mutating func append(_ new: UnsafeRawBufferPointer, expecting expected: Int64?, from pool: SlabPool) {
        guard !isCancelled else { return }
        if let vessel { return vessel.append(new) }
        bytes += new.count
        var rest = new[...]
        while !rest.isEmpty {
            let slab = tail ?? pool.slab(expecting: room(for: rest.count, of: new.count, expecting: expected))
            tail = slab
            rest = rest.dropFirst(slab.append(UnsafeRawBufferPointer(rebasing: rest)))
            if slab.isFull {
                hasFilledSlab = true
                chunks.append(slab.publish())
                tail = nil
            }
        }
    }

    /// How large a new slab is to be: where no length is known, small for the first bytes.
    private func room(for rest: Int, of new: Int, expecting expected: Int64?) -> Int64? {
        if let expected { return max(expected - Int64(new - rest), 0) }
        return hasFilledSlab ? nil : Int64(max(rest, 16 * 1024))
    }

    /// The engine has brought what there was, and says whether it has paused the transfer after that.
    mutating func flush(isPaused: Bool, untilEmpty: Bool = false) -> Delivery {
        guard !isCancelled else { return Delivery() }
        self.isPaused = isPaused
        mark = untilEmpty ? 0 : lowMark
        return Delivery(waiter: isReadable ? takeWaiter() : nil, demand: takeDemand())
    }

    /// The engine's side is over. Called once.
    mutating func finish(_ end: End) -> Delivery {
        self.end = end
        isPaused = false
        return Delivery(waiter: takeWaiter())
    }

    /// The reader wants no more. True when the engine has to be told.
    mutating func cancel() -> Bool {
        guard !isCancelled else { return false }
        isCancelled = true
        (chunks, next, tail, vessel) = ([], [], nil, nil)
        bytes = 0
        return end == nil
    }

    // MARK: The body as a whole

    /// The reader wants all that is here and all that will come in one piece: from here on it goes straight into this.
    ///
    /// - Returns: Whether the engine is to go on.
    mutating func gather(into vessel: BodyVessel) -> Bool {
        guard waiter == nil, !isCancelled else { return false }
        while let chunk = takeFirst() { chunk.withUnsafeBytes { vessel.append($0) } }
        bytes = 0
        self.vessel = vessel
        return takeDemand()
    }

    /// The reader asks for the whole.
    mutating func takeGathered() -> Gathering {
        guard waiter == nil else { return .busy }
        guard !isCancelled else { return end == nil ? .wait : .failure(CancellationError()) }
        guard let vessel else { return .busy }
        if vessel.isOverfull { return .tooLarge(received: vessel.received) }
        switch end {
        case .complete: return .whole(vessel.take())
        case .failed(let error): return .failure(error)
        case nil: return .wait
        }
    }

    /// Whether a reader finds something.
    private var isReadable: Bool {
        !next.isEmpty || !chunks.isEmpty || tail != nil || vessel?.isOverfull == true
    }

    /// Whether nothing that comes is of use any more; the reader who knows will cancel.
    var refusesMore: Bool { isCancelled || vessel?.isOverfull == true }

    private mutating func takeWaiter() -> Waiter? {
        defer { waiter = nil }
        return waiter
    }

    private mutating func takeFirst() -> HTTPBody.Chunk? {
        if next.isEmpty, !chunks.isEmpty {
            swap(&chunks, &next)
            next.reverse()
        }
        if let chunk = next.popLast() { return chunk }
        defer { tail = nil }
        return tail?.publish()
    }

    private mutating func takeDemand() -> Bool {
        guard isPaused, bytes <= mark else { return false }
        isPaused = false
        return true
    }
}
