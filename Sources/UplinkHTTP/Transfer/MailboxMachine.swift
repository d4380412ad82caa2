// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// The state between the engine that brings bytes and the one reader that takes chunks: pure; waiters are values.
///
/// Bytes that have not been taken gather in a few full chunks, so that a server that drips costs no more memory than
/// one that pours.
struct MailboxMachine<Waiter: Sendable> {
    /// How the engine's side ended.
    enum End: Sendable {
        case complete
        case failed(any Error)
    }

    /// What a reader gets.
    enum Taking: Sendable {
        /// A chunk. If `demand` is true, tell the engine to continue.
        case chunk(HTTPBody.Chunk, demand: Bool)
        /// The body is over.
        case end
        /// It failed.
        case failure(any Error)
        /// Nothing is here yet: park.
        case wait
        /// Another reader is already waiting.
        case busy
    }

    /// What the engine's side has to do after bringing something.
    struct Delivery: Sendable {
        /// Wake this reader, which then takes.
        var waiter: Waiter?
        /// The reader has room: the transfer that was just reported as paused may continue.
        var demand = false
        /// The reader should be woken in a moment: flush again then.
        var isHeldBack = false
    }

    /// What a reader of the whole body gets.
    enum Gathering: Sendable {
        /// It is here, or is known to be too large.
        case body(GatheredBody)
        /// It failed.
        case failure(any Error)
        /// More is to come: park.
        case wait
        /// Another reader is already waiting.
        case busy
    }

    /// How long a reader that has just been woken is left alone while a server pours, in nanoseconds.
    static var moment: Int64 { 1_000_000 }
    /// The fewest bytes that count as pouring.
    static var torrent: Int { 64 * 1024 }

    private let lowMark: Int
    private let plenty: Int
    private var chunks: [HTTPBody.Chunk] = []
    /// The chunks that the reader takes before these, the last one first; chunks that have been taken are not kept
    /// here.
    private var next: [HTTPBody.Chunk] = []
    /// The slab being filled, which follows the chunks.
    private var tail: Slab?
    /// Filled in place of the tail, never together with it, when less than a slab is still to come: an array with room
    /// for all of it, which a reader of the whole body gets as it is.
    private var short: [UInt8]?
    private var hasFilledSlab = false
    /// Where the whole body is gathered for the reader; there are no chunks then.
    private var gathered: WholeBodyBuffer?
    /// The reader that waits, and whether waking it is expensive.
    private var parked: (waiter: Waiter, isFar: Bool)?
    /// When a waiter was last woken.
    private var wokenAt: Int64?
    private var end: End?
    /// At how many bytes left there is demand, if the engine has paused the transfer until then.
    private var demandMark: Int?
    private(set) var isCancelled = false
    /// The bytes waiting for the reader.
    private(set) var bytes = 0
    /// The head, or the reason why there is none, until the task that waits for it has it.
    var head: Result<ReceivedHead, any Error>?
    /// The fields that came after the body.
    var trailerFields: HTTPFields?

    /// - Parameter plenty: See ``Mailbox``.
    init(lowMark: Int, plenty: Int? = nil) { (self.lowMark, self.plenty) = (lowMark, plenty ?? lowMark) }

    /// Whether the engine's side is over.
    var isOver: Bool { end != nil }

    /// The reader asks for a chunk.
    mutating func take() -> Taking {
        guard parked == nil else { return .busy }
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

    /// The reader has suspended. Returns false when it need not, because there is something to take.
    ///
    /// - Parameter isFar: Whether waking it is expensive, as with a reader on another thread.
    mutating func park(_ waiter: Waiter, isFar: Bool = false) -> Bool {
        guard parked == nil, end == nil, isCancelled || !isReadable else { return false }
        parked = (waiter, isFar)
        return true
    }

    /// The engine brings bytes; a waiter is woken by ``flush(isPaused:untilEmpty:now:)``.
    ///
    /// - Parameter expected: How many bytes there will be including these, if that is known.
    mutating func append(_ new: UnsafeRawBufferPointer, expecting expected: Int64?, from pool: SlabPool) {
        guard !isCancelled else { return }
        if gathered?.append(new) != nil { return }
        bytes += new.count
        if short != nil || tail == nil && (expected ?? .max) < SlabPool.slabSize {
            return appendShort(new, expecting: expected)
        }
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

    private mutating func appendShort(_ new: UnsafeRawBufferPointer, expecting expected: Int64?) {
        guard !new.isEmpty else { return }
        if short == nil {
            short = []
            short?.reserveCapacity(max(Int(expected ?? 0), new.count))
        }
        short?.append(contentsOf: new)
    }

    /// The size of a new slab: if no length is known, small for the first bytes.
    private func room(for rest: Int, of new: Int, expecting expected: Int64?) -> Int64? {
        if let expected { return max(expected - Int64(new - rest), 0) }
        return hasFilledSlab ? nil : Int64(max(rest, 16 * 1024))
    }

    /// The engine has brought what there was, and says whether it has paused the transfer since.
    ///
    /// - Parameter now: The current time; nil if nobody must be held back.
    mutating func flush(isPaused: Bool, untilEmpty: Bool = false, now: Int64? = nil) -> Delivery {
        guard !isCancelled else { return Delivery() }
        demandMark = !isPaused ? nil : untilEmpty ? 0 : lowMark
        let demand = takeDemand()
        guard parked != nil, isReadable else { return Delivery(demand: demand) }
        if let now, !isPaused, isPouring(now) { return Delivery(demand: demand, isHeldBack: true) }
        wokenAt = now
        return Delivery(waiter: takeWaiter(), demand: demand)
    }

    /// Whether so much arrives, piece after piece, that waking a far reader for each would cost more than it is worth.
    /// A slow server sends little, or sends it some time after the last piece.
    private func isPouring(_ now: Int64) -> Bool {
        guard parked?.isFar == true, gathered == nil, let wokenAt else { return false }
        return bytes >= Self.torrent && bytes < plenty && now - wokenAt < Self.moment
    }

    /// The engine's side is over. Called once.
    mutating func finish(_ end: End) -> Delivery {
        self.end = end
        demandMark = nil
        return Delivery(waiter: takeWaiter())
    }

    /// The reader wants no more. Returns true when the engine has to be told.
    mutating func cancel() -> Bool {
        guard !isCancelled else { return false }
        isCancelled = true
        gathered = nil
        if bytes > 0 { (chunks, next, tail, short, bytes) = ([], [], nil, nil, 0) }
        return end == nil
    }

    // MARK: The body as a whole

    /// The reader wants everything that is here and still to come in one piece: from here on it goes straight into a
    /// buffer.
    ///
    /// - Parameter prepared: The buffer, if it has already been made.
    /// - Returns: Whether the engine is to continue.
    mutating func gather(upTo maximum: Int, expecting expected: Int64?, into prepared: WholeBodyBuffer? = nil) -> Bool {
        guard parked == nil, !isCancelled else { return false }
        bytes = 0
        if chunks.isEmpty, next.isEmpty, let whole = short.take() {
            gathered = WholeBodyBuffer(upTo: maximum, holding: whole)
            return takeDemand()
        }
        gathered = prepared ?? WholeBodyBuffer(upTo: maximum, expecting: expected)
        while let chunk = takeChunk() { chunk.withUnsafeBytes { gathered?.append($0) } }
        tail?.withUnsafeBytes { gathered?.append($0) }
        short?.withUnsafeBytes { gathered?.append($0) }
        (tail, short) = (nil, nil)
        return takeDemand()
    }

    /// The same for a reader that asks before waiting: the whole rest of the body, if it is all here.
    mutating func gatherAtOnce(upTo maximum: Int) -> GatheredBody? {
        guard case .complete = end, gathered == nil, !isCancelled else { return nil }
        _ = gather(upTo: maximum, expecting: Int64(bytes))
        return switch takeGathered() {
        case .body(let body): body
        case .failure, .wait, .busy: nil
        }
    }

    /// The reader asks for the whole body.
    mutating func takeGathered() -> Gathering {
        guard parked == nil else { return .busy }
        guard !isCancelled else { return end == nil ? .wait : .failure(CancellationError()) }
        guard let gathered else { return .busy }
        if gathered.isOverfull { return .body(.tooLarge(received: gathered.received)) }
        switch end {
        case .complete: return .body(.whole(self.gathered?.take() ?? []))
        case .failed(let error): return .failure(error)
        case nil: return .wait
        }
    }

    /// Whether there is something for a reader.
    private var isReadable: Bool {
        !next.isEmpty || !chunks.isEmpty || tail != nil || short != nil || gathered?.isOverfull == true
    }

    /// Whether bytes are of no use any more; the reader that learns this will cancel.
    var refusesMore: Bool { isCancelled || gathered?.isOverfull == true }

    private mutating func takeWaiter() -> Waiter? {
        defer { parked = nil }
        return parked?.waiter
    }

    private mutating func takeFirst() -> HTTPBody.Chunk? {
        if let chunk = takeChunk() { return chunk }
        if let bytes = short.take() { return HTTPBody.Chunk(owning: bytes) }
        defer { tail = nil }
        return tail?.publish()
    }

    private mutating func takeChunk() -> HTTPBody.Chunk? {
        if next.isEmpty, !chunks.isEmpty {
            swap(&chunks, &next)
            next.reverse()
        }
        return next.popLast()
    }

    private mutating func takeDemand() -> Bool {
        guard let demandMark, bytes <= demandMark else { return false }
        self.demandMark = nil
        return true
    }
}
