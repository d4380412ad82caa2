// SPDX-License-Identifier: Apache-2.0
package import UplinkCore

/// Takes a body through a decoder: pure except for the decoder; input is given, chunks are returned.
package struct DecodingMachine {
    /// The next step.
    package enum Step {
        /// Pass the next piece, or nil if there is none, to ``take(_:)``.
        case wantsInput
        /// Give this to the reader.
        case chunk(HTTPBody.Chunk)
        /// The body is over.
        case end
    }

    /// Up to this size a body may expand by any factor.
    static let innocent: Int64 = 1 << 20

    private let decoder: any ContentDecoder
    let maximumRatio: Int
    private let pool = SlabPool(keeping: 2)
    private var input: HTTPBody.Chunk?
    private var offset = 0
    private var isAtEnd = false
    /// Whether the last slab was filled to its end, so that the decoder may hold back output.
    private var mayHoldMore = false
    /// What is wrong with what comes behind the chunks that have been returned.
    private var fault: DecodingFault?
    private(set) var taken: Int64 = 0
    private(set) var made: Int64 = 0
    /// How much of the body itself has arrived, if this decoder's input may be another decoder's output.
    private let arrived: Locked<Int64>?
    /// Whether this decoder's input is the body itself.
    private let isFirst: Bool

    /// - Parameters:
    ///   - decoder: Undoes the coding.
    ///   - maximumRatio: How many times larger than the received bytes the body may become.
    ///   - arrived: Shared by the decoders of a body that was encoded several times.
    ///   - isFirst: Whether this decoder's input is the body as it arrives.
    package init(
        _ decoder: any ContentDecoder, maximumRatio: Int, arrived: Locked<Int64>? = nil, isFirst: Bool = true
    ) {
        (self.decoder, self.maximumRatio) = (decoder, maximumRatio)
        (self.arrived, self.isFirst) = (arrived, isFirst)
    }

    /// Takes the next piece, or nil at the end.
    package mutating func take(_ chunk: HTTPBody.Chunk?) {
        (input, offset, isAtEnd) = (chunk, 0, chunk == nil)
    }

    /// Decodes until a slab is full or the input is used up. What comes before a fault is not lost.
    package mutating func step() throws(DecodingFault) -> Step {
        if fault == nil, input != nil || mayHoldMore {
            let slab = pool.slab(expecting: nil)
            while fault == nil, !slab.isFull, input != nil || mayHoldMore {
                let progress = decode(into: slab)
                mayHoldMore = slab.isFull
                if progress.taken == 0, progress.made == 0 { break }
            }
            if slab.count > 0 { return .chunk(slab.publish()) }
        }
        if let fault { throw fault }
        guard isAtEnd else { return .wantsInput }
        guard decoder.isComplete || taken == 0 else { throw .truncated }
        return .end
    }

    /// Decodes some of the remaining input, or without any what the decoder holds back.
    private mutating func decode(into slab: Slab) -> (taken: Int, made: Int) {
        var progress: (taken: Int, made: Int, fault: DecodingFault?) = (0, 0, nil)
        let (decoder, offset) = (decoder, offset)
        func run(_ bytes: UnsafeRawBufferPointer) {
            slab.fill { room in
                progress = decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...]), into: room)
                return progress.made
            }
        }
        if let input {
            input.withUnsafeBytes { run($0) }
            self.offset += progress.taken
            if self.offset == input.count { (self.input, self.offset) = (nil, 0) }
        } else {
            run(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        taken += Int64(progress.taken)
        made += Int64(progress.made)
        if isFirst { arrived?.withLock { $0 = taken } }
        let expandsTooMuch = made > Self.innocent && made / Int64(maximumRatio) > arrivedBytes
        fault = expandsTooMuch ? .expandsTooMuch : progress.fault
        return (progress.taken, progress.made)
    }

    /// How much of the body itself has been received, with what could not be decoded.
    var receivedBytes: Int64 { isFirst ? taken + Int64((input?.count ?? 0) - offset) : arrivedBytes }

    /// How much of the body itself has arrived.
    var arrivedBytes: Int64 { arrived?.withLock { $0 } ?? taken }
}
