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
    private var isOpen = false
    private var isMemberComplete = false
    /// Whether a member is complete and this is what follows it.
    private var isBehindMember = false
    /// Whether what follows is not part of the content.
    private var isPastEnd = false

    init(_ format: Format) {
        self.format = format
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(DecodingFault) -> (taken: Int, made: Int) {
        if let first = input.first {
            if isMemberComplete { try beginNextMember(with: first) }
            if isPastEnd { return (input.count, 0) }
            if !isOpen { try open(first) }
        }
        guard isOpen, !isMemberComplete else { return (0, 0) }
        // zlib takes a mutable pointer to input that it does not change.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(clamping: output.count)
        let offered = (stream.pointee.avail_in, stream.pointee.avail_out)
        switch inflate(stream, Z_NO_FLUSH) {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: isMemberComplete = true
        case Z_DATA_ERROR where isBehindMember && stream.pointee.total_in <= Self.magic:
            isPastEnd = true
            return (input.count, 0)
        default: throw .damaged
        }
        return (Int(offered.0 - stream.pointee.avail_in), Int(offered.1 - stream.pointee.avail_out))
    }

    /// The length of a member's first bytes, 1F 8B.
    private static let magic = 2

    /// Whether the content is complete. Less than the beginning of a member after another one does not count.
    var isComplete: Bool { isMemberComplete || isPastEnd || isBehindMember && stream.pointee.total_in < Self.magic }

    /// A gzip body may consist of several members (RFC 1952, section 2.2). Anything else after the end is ignored, as
    /// browsers do: some servers pad, and by its own account the content was complete.
    private func beginNextMember(with first: UInt8) throws(DecodingFault) {
        guard !isPastEnd, format == .gzip, first == 0x1F else {
            isPastEnd = true
            return
        }
        guard inflateReset(stream) == Z_OK else { throw .damaged }
        (isMemberComplete, isBehindMember) = (false, true)
    }

    private func open(_ first: UInt8) throws(DecodingFault) {
        let windowBits: CInt =
            switch format {
            case .gzip: 15 + 16
            case .deflate: first & 0x0F == 8 && first >> 4 <= 7 ? 15 : -15  // no raw block begins like this
            }
        guard uplink_inflate_init(stream, windowBits) == Z_OK else { throw .damaged }
        isOpen = true
    }
}
#endif
