// SPDX-License-Identifier: Apache-2.0

/// The state between the producer of a request's body and the engine that sends it: pure; waiters are values.
///
/// The last byte of a body of known length waits until the producer has ended: a body that turns out longer than
/// announced then never looks complete to the server.
struct UploadMachine<Waiter: Sendable> {
    /// The state of the producer.
    enum Phase: Sendable {
        /// It has more to produce, as far as is known.
        case producing
        /// It has produced everything.
        case complete
        /// It failed, or produced too much or too little.
        case failed(any Error)
        /// Nobody wants its bytes any more.
        case stopped
    }

    /// The fate of a piece.
    enum Offer: Sendable {
        /// It is kept. If `wakes` is true, tell the engine, which waits for it.
        case taken(wakes: Bool)
        /// There is no room: park.
        case full
        /// It is more than was announced.
        case failed(any Error)
        /// Nobody wants it.
        case stopped
    }

    /// The most pieces that may wait, because the smallest ones take more memory than their bytes.
    static var mostPieces: Int { 1024 }

    private let length: Int64?
    private let highMark: Int
    private var chunks: [HTTPBody.Chunk] = []
    private var first = 0
    /// Bytes of the first chunk that have been taken.
    private var offset = 0
    private(set) var phase = Phase.producing
    private var accepted: Int64 = 0
    private var taken: Int64 = 0
    private var waiter: Waiter?
    /// The size of the piece that there was no room for.
    private var refused = 0
    /// Whether the engine has found nothing and waits.
    private var isStarved = false

    /// - Parameter highMark: The most bytes that may wait; a larger piece waits alone.
    init(length: Int64?, highMark: Int) {
        self.length = length
        self.highMark = highMark
    }

    /// The bytes waiting.
    var bytes: Int { Int(accepted - taken) }

    /// The reason why the body is not complete.
    var failure: (any Error)? {
        switch phase {
        case .failed(let error): error
        case .producing, .complete, .stopped: nil
        }
    }

    /// Whether nobody wants the body any more.
    var isStopped: Bool {
        switch phase {
        case .stopped: true
        case .producing, .complete, .failed: false
        }
    }

    // MARK: The producer

    mutating func offer(_ chunk: HTTPBody.Chunk) -> Offer {
        switch phase {
        case .producing: break
        case .complete, .stopped: return .stopped
        case .failed(let error): return .failed(error)
        }
        if let length, Int64(chunk.count) > length - accepted {
            let error = BodyLength.exceeded(length)
            phase = .failed(error)
            return .failed(error)
        }
        guard hasRoom(for: chunk.count) else {
            refused = chunk.count
            return .full
        }
        chunks.append(chunk)
        accepted += Int64(chunk.count)
        return .taken(wakes: takeStarvation())
    }

    /// The producer has suspended. Returns false when it need not.
    mutating func park(_ waiter: Waiter) -> Bool {
        guard case .producing = phase, self.waiter == nil, !hasRoom(for: refused) else { return false }
        self.waiter = waiter
        return true
    }

    /// The producer has ended. Returns true when the engine has to be told.
    mutating func finish(throwing error: (any Error)?) -> Bool {
        switch phase {
        case .producing: break
        case .failed: return true
        case .complete, .stopped: return false
        }
        do {
            if let error { throw error }
            try BodyLength.check(accepted, against: length)
            phase = .complete
            return takeStarvation()
        } catch {
            phase = .failed(error)
            return true
        }
    }

    // MARK: The engine

    /// Copies as many bytes as may be sent into `memory`.
    mutating func take(into memory: UnsafeMutableRawBufferPointer) -> UploadReading {
        switch phase {
        case .producing, .complete: break
        case .failed, .stopped: return .failed
        }
        let count = min(available, memory.count)
        guard count > 0 else {
            if case .complete = phase { return .end }
            isStarved = true
            return .wait
        }
        copy(UnsafeMutableRawBufferPointer(rebasing: memory[..<count]))
        taken += Int64(count)
        return .bytes(count)
    }

    /// The engine's turn is over. Returns the producer to wake, if there is room for its piece.
    mutating func flush() -> Waiter? {
        let isLow = bytes <= highMark / 2 && pieces <= Self.mostPieces / 2
        guard bytes == 0 || isLow && hasRoom(for: refused) else { return nil }
        return takeWaiter()
    }

    /// Nobody wants the body any more. Returns the producer to wake, which then ends.
    mutating func stop() -> Waiter? {
        if case .failed = phase {} else { phase = .stopped }
        (chunks, first, offset) = ([], 0, 0)
        taken = accepted
        return takeWaiter()
    }

    // MARK: Inside

    private func hasRoom(for count: Int) -> Bool {
        bytes == 0 || bytes + count <= highMark && pieces < Self.mostPieces
    }

    /// The pieces waiting, of which the first may have been taken in part.
    private var pieces: Int { chunks.count - first }

    /// The bytes that may be sent now.
    private var available: Int {
        guard case .producing = phase, let length else { return bytes }
        return Int(max(0, min(Int64(bytes), length - 1 - taken)))
    }

    private mutating func takeStarvation() -> Bool {
        var isOver = false
        if case .complete = phase { isOver = true }
        guard isStarved, isOver || available > 0 else { return false }
        isStarved = false
        return true
    }

    private mutating func takeWaiter() -> Waiter? {
        defer { waiter = nil }
        return waiter
    }

    private mutating func copy(_ memory: UnsafeMutableRawBufferPointer) {
        var filled = 0
        while filled < memory.count {
            let chunk = chunks[first]
            let count = min(chunk.count - offset, memory.count - filled)
            chunk.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: memory[filled..<filled + count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            }
            filled += count
            offset += count
            if offset == chunk.count { dropFirst() }
        }
    }

    private mutating func dropFirst() {
        offset = 0
        first += 1
        guard first == chunks.count || first >= 64 else { return }
        chunks.removeFirst(first)
        first = 0
    }
}
