// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How much the stress tests do: little by default, more with `scripts/stress`.
enum Workload {
    /// How long the storm lasts: `UPLINK_STRESS_SECONDS`, or a few seconds.
    static let duration = Duration.seconds(number(of: "UPLINK_STRESS_SECONDS") ?? 3)

    /// What the counts are multiplied with, such as `UPLINK_STRESS=100`; nil where time alone counts.
    static let factor = number(of: "UPLINK_STRESS")

    /// The seed of everything random, printed when a test begins. It repeats what is chosen by chance; when threads meet is
    /// not chosen.
    static let seed = number(of: "UPLINK_SEED").map(UInt64.init) ?? UInt64.random(in: 1...UInt64(UInt32.max))

    /// How to do the same again.
    static var command: String {
        let minutes = max(1, Int((duration / .seconds(60)).rounded(.up)))
        return "scripts/stress --minutes \(minutes) --seed \(seed)"
    }

    private static func number(of variable: String) -> Int? {
        getenv(variable).flatMap { Int(String(cString: $0)) }
    }
}

/// SplitMix64: small, and the same everywhere for the same seed.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// One of its own for each of many who start from the same seed.
    init(seed: UInt64, _ name: String) {
        state = name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// True once in so many times.
    mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    /// Another generator, for a task of its own.
    mutating func fork() -> SeededGenerator { SeededGenerator(seed: next()) }
}
