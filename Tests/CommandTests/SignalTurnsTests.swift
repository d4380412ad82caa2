// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// What a signal means by its time.
@Suite(.timeLimit(.minutes(1)))
struct SignalTurnsTests {
    @Test func onlyASecondSignalThatSomebodyMayHaveSentEndsAtOnce() {
        let start = ContinuousClock.now
        var turns = SignalTurns()
        #expect(!turns.hasBegun)
        #expect(turns.take(at: start) == .first)
        #expect(turns.hasBegun)
        #expect(turns.take(at: start) == .echo)
        #expect(turns.take(at: start + .milliseconds(299)) == .echo)
        #expect(turns.take(at: start + .milliseconds(300)) == .again)
        #expect(turns.take(at: start + .seconds(9)) == .again)
    }
}
