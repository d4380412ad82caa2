// SPDX-License-Identifier: Apache-2.0

/// A body's way through a decoder: pure but for the decoder; input is given, chunks are returned.
struct DecodingMachine {
    /// What is next.
    enum Step {
        /// Give the next piece, or say that there is none; ``take(_:)``.
        case wantsInput
        /// Give this to the reader.
        case chunk(HTTPBody.Chunk)
        /// The body is over.
        case end
    }

    /// Below this much a body may grow as it likes.
    static let innocent: Int64 = 1 << 20

    private let decoder: any ContentDecoder
    let maximumRatio: Int
    private let pool = SlabPool(keeping: 2)
    private var input: HTTPBody.Chunk?
    private var offset = 0
    private var isAtEnd = false
    private(set) var taken: Int64 = 0
    private(set) var made: Int64 = 0

    init(_ decoder: any ContentDecoder, maximumRatio: Int) {
        self.decoder = decoder
        self.maximumRatio = maximumRatio
    }

    /// The next piece that came, or nil at the end.
    mutating func take(_ chunk: HTTPBody.Chunk?) {
        (input, offset, isAtEnd) = (chunk, 0, chunk == nil)
    }

    /// Decodes until a slab is full or the input is used up.
    mutating func step() throws(DecodingFault) -> Step {
        guard let input else {
            guard isAtEnd else { return .wantsInput }
            guard decoder.isComplete || taken == 0 else { throw .truncated }
            return .end
        }
        let slab = pool.slab(expecting: nil)
        while offset < input.count || slab.isFull {
            guard !slab.isFull else { return .chunk(slab.publish()) }
            let (taken, made) = try decode(input, into: slab)
            if taken == 0, made == 0 { break }
        }
        if offset == input.count { self.input = nil }
        guard slab.count > 0 else { return .wantsInput }
        return .chunk(slab.publish())
    }

    private mutating func decode(
        _ input: HTTPBody.Chunk, into slab: Slab
    ) throws(DecodingFault) -> (taken: Int, made: Int) {
        var progress = (taken: 0, made: 0)
        try input.withUnsafeBytes { bytes throws(DecodingFault) in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            try slab.fill { room throws(DecodingFault) in
                progress = try decoder.decode(rest, into: room)
                return progress.made
            }
        }
        offset += progress.taken
        taken += Int64(progress.taken)
        made += Int64(progress.made)
        guard made <= Self.innocent || made / Int64(maximumRatio) <= taken else { throw .expandsTooMuch }
        return progress
    }
}
