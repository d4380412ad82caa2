// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import struct UplinkCore.RetryPolicy

@Suite(.timeLimit(.minutes(1)))
struct RetryPolicyTests {
    @Test func pausesDoubleUpToTheLongest() {
        let policy = RetryPolicy(initialPause: .nanoseconds(100), maximumPause: .nanoseconds(1000), random: { 1 })
        #expect((1...6).map(policy.pause(after:)) == [100, 200, 400, 800, 1000, 1000])
    }

    @Test func aPauseIsBetweenItsHalfAndItsWhole() {
        var policy = RetryPolicy(initialPause: .nanoseconds(1000))
        for _ in 0..<1000 { #expect((500...1000).contains(policy.pause(after: 1))) }
        #expect(Set((0..<100).map { _ in policy.pause(after: 1) }).count > 10)
        policy.random = { 0 }
        #expect(policy.pause(after: 1) == 500)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 2, -1])
    func noNumberTraps(_ number: Double) {
        let huge = RetryPolicy(
            initialPause: .seconds(Int64.max), maximumPause: .seconds(Int64.max), random: { number })
        for attempts in [0, 1, 100, .max] { #expect(huge.pause(after: attempts) > 0) }
        let none = RetryPolicy(initialPause: .seconds(-1), random: { number })
        for attempts in [0, 1, 100, .max] { #expect(none.pause(after: attempts) == 0) }
    }
}
