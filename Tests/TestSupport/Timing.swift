// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How exact a measurement can be here.
package enum Timing {
    /// Whether ThreadSanitizer slows everything down.
    package static let isInstrumented = dlsym(nil, "__tsan_init") != nil

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
