// SPDX-License-Identifier: Apache-2.0
#if Store
import Testing

@testable import UplinkStore

@Suite(.timeLimit(.minutes(1)))
struct OtherProcessesTests {
    @Test func theyAreLookedForOnceForWhatWasSentAndAtMostOnceASecond() {
        var others = OtherProcesses()
        #expect(others.isToBeLookedFor(now: .seconds(5)) == .no)
        others.mayHaveAdded = true
        #expect(others.isToBeLookedFor(now: .seconds(5)) == .now)
        #expect(others.isToBeLookedFor(now: .seconds(5)) == .no)
        others.mayHaveAdded = true
        #expect(others.isToBeLookedFor(now: .milliseconds(5999)) == .later(.seconds(6)))
        #expect(others.isToBeLookedFor(now: .seconds(6)) == .now)
        #expect(others.isToBeLookedFor(now: .seconds(60)) == .no)
    }
}
#endif
