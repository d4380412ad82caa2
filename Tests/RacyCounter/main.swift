// SPDX-License-Identifier: Apache-2.0
// The positive control of the ThreadSanitizer run. `racy` must be reported, `actor` must not; if the first is not, a
// clean run of the suite proves nothing. Each mode raises a counter from 10,000 tasks.

final class RacyCounter: @unchecked Sendable {  // not Sendable at all: the race is the purpose
    var count = 0
}

actor CorrectCounter {
    var count = 0
    func add() { count += 1 }
}

let tasks = 10_000

switch CommandLine.arguments.dropFirst().first {
case "racy":
    let counter = RacyCounter()
    await withDiscardingTaskGroup { group in
        for _ in 0..<tasks { group.addTask { counter.count += 1 } }
    }
    print(counter.count)
case "actor":
    let counter = CorrectCounter()
    await withDiscardingTaskGroup { group in
        for _ in 0..<tasks { group.addTask { await counter.add() } }
    }
    print(await counter.count)
default:
    print("usage: RacyCounter racy|actor")
}
