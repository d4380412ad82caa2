// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How much the stress tests do: little by default, all that the issues name with `scripts/stress --full`.
enum Workload {
    /// What the environment asks for, such as `UPLINK_STRESS=100`: a factor on every count.
    static let factor = number(of: "UPLINK_STRESS") ?? 1

    /// The seed of everything random, printed when a test begins.
    static let seed = number(of: "UPLINK_SEED").map(UInt64.init) ?? UInt64.random(in: 1...UInt64(UInt32.max))

    private static func number(of variable: String) -> Int? {
        getenv(variable).flatMap { Int(String(cString: $0)) }
    }
}

/// SplitMix64: small, and the same everywhere for the same seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
