// SPDX-License-Identifier: Apache-2.0
package import UplinkCore

/// A body's way through a decoder: pure but for the decoder; input is given, chunks are returned.
package struct DecodingMachine {
    /// What is next.
    package enum Step {
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
    /// The last slab was filled to its end, so the decoder may hold something back for want of room.
    private var mayHoldMore = false
    private(set) var taken: Int64 = 0
    private(set) var made: Int64 = 0
    /// How much has come of the body itself, where that is another decoder's input.
    private let arrived: Locked<Int64>?
    /// Whether it is this one's.
    private let isFirst: Bool

    /// - Parameters:
    ///   - decoder: What undoes the coding.
    ///   - maximumRatio: How many times larger than what arrived the body may become.
    ///   - arrived: What the decoders of a body share that was encoded several times.
    ///   - isFirst: Whether this one's input is what arrives.
    package init(
        _ decoder: any ContentDecoder, maximumRatio: Int, arrived: Locked<Int64>? = nil, isFirst: Bool = true
    ) {
        (self.decoder, self.maximumRatio) = (decoder, maximumRatio)
        (self.arrived, self.isFirst) = (arrived, isFirst)
    }

    /// The next piece that came, or nil at the end.
    package mutating func take(_ chunk: HTTPBody.Chunk?) {
        (input, offset, isAtEnd) = (chunk, 0, chunk == nil)
    }

    /// Decodes until a slab is full or the input is used up.
    package mutating func step() throws(DecodingFault) -> Step {
        if input != nil || mayHoldMore {
            let slab = pool.slab(expecting: nil)
            while !slab.isFull, input != nil || mayHoldMore {
                let progress = try decode(into: slab)
                mayHoldMore = slab.isFull
                if progress.taken == 0, progress.made == 0 { break }
            }
            if slab.count > 0 { return .chunk(slab.publish()) }
        }
        guard isAtEnd else { return .wantsInput }
        guard decoder.isComplete || taken == 0 else { throw .truncated }
        return .end
    }

    /// Decodes some of what is left of the input, or with none what the decoder holds back.
    private mutating func decode(into slab: Slab) throws(DecodingFault) -> (taken: Int, made: Int) {
        var progress = (taken: 0, made: 0)
        let (decoder, offset) = (decoder, offset)
        func run(_ bytes: UnsafeRawBufferPointer) throws(DecodingFault) {
            try slab.fill { room throws(DecodingFault) in
                progress = try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...]), into: room)
                return progress.made
            }
        }
        if let input {
            try input.withUnsafeBytes { bytes throws(DecodingFault) in try run(bytes) }
            self.offset += progress.taken
            if self.offset == input.count { (self.input, self.offset) = (nil, 0) }
        } else {
            try run(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        taken += Int64(progress.taken)
        made += Int64(progress.made)
        if isFirst { arrived?.withLock { $0 = taken } }
        guard made <= Self.innocent || made / Int64(maximumRatio) <= arrivedBytes else { throw .expandsTooMuch }
        return progress
    }

    /// How much has come of the body itself.
    var arrivedBytes: Int64 { arrived?.withLock { $0 } ?? taken }
}
