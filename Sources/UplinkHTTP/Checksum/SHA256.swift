// SPDX-License-Identifier: Apache-2.0

/// SHA-256 (FIPS 180-4), computed piece by piece; for the integrity of downloads.
///
/// Where swift-crypto is imported too, say which is meant: `Uplink.SHA256` or `Crypto.SHA256`.
public struct SHA256: HTTPChecksum {
    /// The eight words of the state.
    private var state: SIMD8<UInt32> = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    /// The beginning of an incomplete block.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    /// Makes a checksum of no bytes.
    public init() { rest.reserveCapacity(Self.blockSize) }

    /// Adds bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count &+= UInt64(bytes.count)
        var bytes = bytes
        if !rest.isEmpty {
            let missing = min(Self.blockSize - rest.count, bytes.count)
            rest.append(contentsOf: bytes[..<missing])
            bytes = UnsafeRawBufferPointer(rebasing: bytes[missing...])
            guard rest.count == Self.blockSize else { return }
            rest.withUnsafeBytes { compress($0) }
            rest.removeAll(keepingCapacity: true)
        }
        let whole = bytes.count / Self.blockSize * Self.blockSize
        compress(UnsafeRawBufferPointer(rebasing: bytes[..<whole]))
        rest.append(contentsOf: bytes[whole...])
    }

    /// Adds bytes.
    public mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Returns the digest of 32 bytes and ends the computation; later calls give no digest.
    public mutating func finish() -> [UInt8] {
        let bits = count &<< 3
        var padding: [UInt8] = [0x80]
        let used = (rest.count + 1) % Self.blockSize
        padding += [UInt8](repeating: 0, count: (Self.blockSize + 56 - used) % Self.blockSize)
        padding += (0..<8).map { UInt8(truncatingIfNeeded: bits &>> UInt64(56 - 8 * $0)) }
        padding.withUnsafeBytes { update($0) }
        return state.indices.flatMap { index in
            (0..<4).map { UInt8(truncatingIfNeeded: state[index] &>> UInt32(24 - 8 * $0)) }
        }
    }

    private static let blockSize = 64

    /// Processes whole blocks. It uses pointers throughout, since a bounds check in each of the 64 rounds costs half
    /// the speed.
    private mutating func compress(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count >= Self.blockSize else { return }
        var words = state
        Self.constants.withUnsafeBufferPointer { constants in
            guard let constants = constants.baseAddress else { return }
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                guard let schedule = schedule.baseAddress else { return }
                for offset in stride(from: 0, to: bytes.count, by: Self.blockSize) {
                    Self.compress(base + offset, &words, schedule, constants)
                }
            }
        }
        state = words
    }

    @inline(__always)
    private static func compress(
        _ block: UnsafeRawPointer, _ state: inout SIMD8<UInt32>, _ schedule: UnsafeMutablePointer<UInt32>,
        _ constants: UnsafePointer<UInt32>
    ) {
        var index = 0
        while index < 16 {
            schedule[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
            index &+= 1
        }
        while index < 64 {
            let (early, late) = (schedule[index &- 15], schedule[index &- 2])
            let first = rotated(early, 7) ^ rotated(early, 18) ^ (early &>> 3)
            let second = rotated(late, 17) ^ rotated(late, 19) ^ (late &>> 10)
            schedule[index] = schedule[index &- 16] &+ first &+ schedule[index &- 7] &+ second
            index &+= 1
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        index = 0
        while index < 64 {
            let (words, constants) = (schedule + index, constants + index)
            // The words change places from round to round; after eight rounds they are back where they were.
            round(a, b, c, &d, e, f, g, &h, constants[0] &+ words[0])
            round(h, a, b, &c, d, e, f, &g, constants[1] &+ words[1])
            round(g, h, a, &b, c, d, e, &f, constants[2] &+ words[2])
            round(f, g, h, &a, b, c, d, &e, constants[3] &+ words[3])
            round(e, f, g, &h, a, b, c, &d, constants[4] &+ words[4])
            round(d, e, f, &g, h, a, b, &c, constants[5] &+ words[5])
            round(c, d, e, &f, g, h, a, &b, constants[6] &+ words[6])
            round(b, c, d, &e, f, g, h, &a, constants[7] &+ words[7])
            index &+= 8
        }
        state = state &+ SIMD8(a, b, c, d, e, f, g, h)
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
        _ h: inout UInt32, _ input: UInt32
    ) {
        let choice = g ^ (e & (f ^ g))
        let first = h &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ choice &+ input
        let majority = (a & b) ^ (c & (a ^ b))
        d = d &+ first
        h = first &+ (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ majority
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { (word &>> bits) | (word &<< (32 &- bits)) }

    /// FIPS 180-4, section 4.2.2.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
