// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkC

/// Who runs callbacks.
@Suite(.timeLimit(.minutes(1)))
struct CallQueueTests {
    private struct Nothing: Call {
        func cancel() {}
    }

    /// Also between two callbacks, where none is running.
    @Test func oneThreadAtATimeDispatches() throws {
        let queue = try #require(CallQueue())
        let id = try #require(queue.update { $0.add(Nothing()) })
        let answers = Locked<[CInt]>([])
        let ask: @Sendable () -> Void = {
            let answer = queue.dispatch()
            answers.withLock { $0.append(answer) }
        }
        #expect(queue.update { $0.post(.init(kind: .event(id), run: {}, drop: ask)) })
        #expect(queue.update { $0.cancel(id) } != nil)
        queue.update { $0.end(id, .init(kind: .end, run: ask)) }
        #expect(queue.dispatch() == 1)
        #expect(answers.withLock { $0 } == [Status.busy, Status.busy])
        #expect(queue.dispatch() == 0)
    }
}
