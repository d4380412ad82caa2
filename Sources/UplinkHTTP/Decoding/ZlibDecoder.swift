// SPDX-License-Identifier: Apache-2.0
#if Compression
import CZLib

/// Decodes gzip (RFC 1952), and deflate in both forms: with zlib's header (RFC 1950), as it should be, and raw (RFC
/// 1951), as some servers send it.
final class ZlibDecoder: ContentDecoder, @unchecked Sendable {  // one call at a time: DecodedSource has a lock
    enum Format: Sendable {
        case gzip, deflate
    }

    private let format: Format
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var stage = Stage.start

    /// How far the content has come. A gzip body may consist of several members (RFC 1952, section 2.2).
    private enum Stage {
        /// Nothing has come.
        case start
        /// Within a member: the first one, or one that follows another.
        case member(isFirst: Bool)
        /// A member is complete, and another one may follow.
        case complete
        /// What comes is not part of the content. It is ignored, as browsers do: some servers pad, and by its own
        /// account the content was complete.
        case pastEnd
    }

    init(_ format: Format) {
        self.format = format
        stream.initialize(to: z_stream())
    }

    deinit {
        switch stage {
        case .start: break
        case .member, .complete, .pastEnd: inflateEnd(stream)
        }
        stream.deallocate()
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> (taken: Int, made: Int, fault: DecodingFault?) {
        if let first = input.first, !beginsMember(with: first) { return (0, 0, .damaged) }
        switch stage {
        case .start, .complete: return (0, 0, nil)
        case .member(let isFirst): return inflateMember(input, into: output, isFirst: isFirst)
        case .pastEnd: return (input.count, 0, nil)
        }
    }

    /// Whether the content is complete. Less than the beginning of a member after another one does not count.
    var isComplete: Bool {
        switch stage {
        case .start: false
        case .member(let isFirst): !isFirst && stream.pointee.total_in < Self.magic
        case .complete, .pastEnd: true
        }
    }

    /// The length of a member's first bytes, 1F 8B.
    private static let magic = 2

    /// Begins a member, if none has begun that is not complete; false if zlib refuses.
    private func beginsMember(with first: UInt8) -> Bool {
        switch stage {
        case .start:
            guard opens(first) else { return false }
            stage = .member(isFirst: true)
        case .complete:
            guard format == .gzip, first == 0x1F else {
                stage = .pastEnd
                return true
            }
            guard inflateReset(stream) == Z_OK else { return false }
            stage = .member(isFirst: false)
        case .member, .pastEnd: break
        }
        return true
    }

    private func inflateMember(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isFirst: Bool
    ) -> (taken: Int, made: Int, fault: DecodingFault?) {
        // zlib takes a mutable pointer to input that it does not change.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(clamping: output.count)
        let offered = (stream.pointee.avail_in, stream.pointee.avail_out)
        var fault: DecodingFault?
        switch inflate(stream, Z_NO_FLUSH) {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: stage = .complete
        case Z_DATA_ERROR where !isFirst && stream.pointee.total_in <= Self.magic:
            stage = .pastEnd
            return (input.count, 0, nil)
        default: fault = .damaged
        }
        return (Int(offered.0 - stream.pointee.avail_in), Int(offered.1 - stream.pointee.avail_out), fault)
    }

    private func opens(_ first: UInt8) -> Bool {
        let windowBits: CInt =
            switch format {
            case .gzip: 15 + 16
            case .deflate: first & 0x0F == 8 && first >> 4 <= 7 ? 15 : -15  // no raw block begins like this
            }
        return uplink_inflate_init(stream, windowBits) == Z_OK
    }
}
#endif
