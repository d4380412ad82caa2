// SPDX-License-Identifier: Apache-2.0
#if Compression
import CZLib

/// gzip (RFC 1952), and deflate in both spellings: with zlib's wrapping (RFC 1950), as it should be, and raw (RFC
/// 1951), as some servers send it.
final class ZlibDecoder: ContentDecoder, @unchecked Sendable {  // one call at a time: DecodedSource has a lock
    enum Format: Sendable {
        case gzip, deflate
    }

    private let format: Format
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var isOpen = false
    private var isMemberComplete = false
    /// Whether a member is complete, and this is what comes behind it.
    private var isBehindMember = false
    /// What comes is no part of the content any more.
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
        // zlib takes a pointer to what it does not change.
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

    /// The bytes that a member begins with: 1F 8B.
    private static let magic = 2

    /// Whether all of the content has come. Less than a member's beginning behind another one is none.
    var isComplete: Bool { isMemberComplete || isPastEnd || isBehindMember && stream.pointee.total_in < Self.magic }

    /// A gzip body may be several, one behind the other (RFC 1952, section 2.2). Anything else behind the end is passed
    /// over, as browsers do: some servers pad, and what came before was whole by its own account.
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
            case .deflate: first & 0x0F == 8 && first >> 4 <= 7 ? 15 : -15  // no encoder begins a raw block so
            }
        guard uplink_inflate_init(stream, windowBits) == Z_OK else { throw .damaged }
        isOpen = true
    }
}
#endif
