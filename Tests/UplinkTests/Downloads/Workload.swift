// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How much the random tests do, and with which numbers.
enum DownloadWorkload {
    /// Whether the large counts are wanted (`UPLINK_FULL`).
    static let isFull = getenv("UPLINK_FULL") != nil
    /// What the random numbers start from (`UPLINK_SEED`).
    static let seed =
        getenv("UPLINK_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...UInt64(UInt32.max))
}

/// Random numbers that come again with the same seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
