// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@Suite(.timeLimit(.minutes(1)))
struct LockedTests {
    private final class Witness: Sendable {
        private let count: Locked<Int>

        init(_ count: Locked<Int>) { self.count = count }

        deinit { count.withLock { $0 += 1 } }
    }

    private struct Failure: Error {}

    @Test func manyThreadsCountToTheSameNumber() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<10_000 { count.withLock { $0 += 1 } } }
            }
        }
        #expect(count.withLock { $0 } == 80_000)
    }

    @Test func theStateGoesWithTheLastCopy() {
        let gone = Locked(0)
        var copies: [Locked<[Witness]>] = []
        do {
            let lock = Locked([Witness(gone)])
            copies = [lock, lock]
            lock.withLock { $0.append(Witness(gone)) }
        }
        copies.removeLast()
        #expect(gone.withLock { $0 } == 0)
        #expect(copies[0].withLock { $0.count } == 2)
        copies.removeLast()
        #expect(gone.withLock { $0 } == 2)
    }

    @Test func theLockIsFreeAfterAnError() {
        let lock = Locked("a")
        #expect(throws: Failure.self) {
            try lock.withLock { state throws(Failure) in
                state += "b"
                throw Failure()
            }
        }
        #expect(lock.withLock { $0 } == "ab")
    }

    /// A state stands behind the mutex, where its alignment wants it.
    @Test func aStateMayHaveAnySize() {
        #expect(Locked(()).withLock { _ in true })
        #expect(Locked(UInt8(7)).withLock { $0 } == 7)
        #expect(Locked((UInt8(7), SIMD16<UInt64>(repeating: 9), false)).withLock { $0.1[15] } == 9)
    }
}
