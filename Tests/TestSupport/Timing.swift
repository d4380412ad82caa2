// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How exact a measurement can be here.
package enum Timing {
    /// Whether ThreadSanitizer slows everything down.
    package static let isInstrumented = dlsym(nil, "__tsan_init") != nil

    /// Whether what a quiet machine keeps to is to hold (`UPLINK_FULL`). CI's machine is neither quiet nor fast.
    package static let isExact = getenv("UPLINK_FULL").map { $0.pointee != 0 } ?? false

    /// A limit on something that happens sooner: `exact` where that is to hold, and otherwise one that says no more
    /// than that it did happen.
    package static func limit(_ exact: Duration, otherwise: Duration = .seconds(30)) -> Duration {
        isExact ? exact : max(exact, otherwise)
    }

    /// What a duration may be late by: itself, or much more under ThreadSanitizer.
    package static func slack(_ duration: Duration) -> Duration { isInstrumented ? duration * 20 : duration }

    /// Runs a measurement until it is good, three times at most, because another process may take the processor away.
    package static func measure(_ isGood: (Duration) -> Bool, _ body: () async throws -> Duration) async rethrows
        -> Duration
    {
        var time = Duration.zero
        for _ in 0..<3 {
            time = try await body()
            if isGood(time) { break }
        }
        return time
    }
}
