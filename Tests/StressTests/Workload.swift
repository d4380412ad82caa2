// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How much the stress tests do: little by default, more with `scripts/stress`.
enum Workload {
    /// How long the storm lasts: `UPLINK_STRESS_SECONDS`, or a few seconds.
    static let duration = Duration.seconds(number(of: "UPLINK_STRESS_SECONDS") ?? 3)

    /// What the counts are multiplied with, such as `UPLINK_STRESS=100`; nil where time alone counts.
    static let factor = number(of: "UPLINK_STRESS")

    /// The seed of everything random, printed when a test begins. It repeats what is chosen by chance; when threads
    /// meet is not chosen.
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
