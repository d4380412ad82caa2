// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import struct UplinkCore.ExponentialBackoff

@Suite(.timeLimit(.minutes(1)))
struct ExponentialBackoffTests {
    @Test func pausesGrowUpToTheMaximum() {
        let backoff = ExponentialBackoff(initial: .seconds(1), factor: 3, maximum: .seconds(20), jitter: 0)
        #expect((0...5).map { backoff.pause(after: $0) } == [1, 1, 3, 9, 20, 20].map { .seconds($0) })
    }

    @Test func theJitterIsTheShareThatIsRandom() {
        let backoff = ExponentialBackoff(initial: .seconds(8), maximum: .seconds(8), jitter: 0.25)
        #expect(
            [0, 0.5, 1, .nan, -1, 2].map { backoff.pause(after: 1, chance: $0) }
                == [6, 7, 8, 8, 6, 8].map { .seconds($0) })
    }

    @Test(arguments: [1, 2, 1e300, .infinity] as [Double], [Duration.seconds(-1), .zero, .seconds(Int64.max)])
    func noNumberTraps(factor: Double, duration: Duration) {
        let backoff = ExponentialBackoff(initial: duration, factor: factor, maximum: duration, jitter: 1)
        for failures in [Int.min, 0, 1, 100, .max] {
            #expect(backoff.pause(after: failures) <= min(max(duration, .zero), .nanoseconds(Int64.max)))
        }
        let growing = ExponentialBackoff(initial: .nanoseconds(1), factor: factor, maximum: duration, jitter: 0)
        #expect(growing.pause(after: .max) <= max(duration, .zero))
    }
}
