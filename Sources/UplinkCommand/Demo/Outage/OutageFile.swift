// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// The file of the demo's server: bytes that look random but are the same in each process, so that a piece in the wrong
/// place would show.
struct OutageFile: Sendable {
    let byteCount: Int
    /// The repeated block; its length is a prime number, so that no shift by a round number goes unnoticed.
    private let block: [UInt8]

    init(byteCount: Int) {
        self.byteCount = byteCount
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        block = (0..<65_521).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }

    /// At most this many bytes from this offset on; before the end at least one.
    func piece(at offset: Int, upTo count: Int) -> ArraySlice<UInt8> {
        let place = offset % block.count
        return block[place..<min(block.count, place + min(count, byteCount - offset))]
    }

    /// The digest that a download of it must have.
    var sha256: [UInt8] {
        var checksum = SHA256()
        var offset = 0
        while offset < byteCount {
            let piece = piece(at: offset, upTo: byteCount)
            piece.withUnsafeBytes { checksum.update($0) }
            offset += piece.count
        }
        return checksum.finish()
    }
}
