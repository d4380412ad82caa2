// SPDX-License-Identifier: Apache-2.0
// The positive control of the runs under ThreadSanitizer and valgrind. `racy` and `leaky` must be reported, `actor` must
// not; if one of the first two is not, a clean run of the suite proves nothing. `racy` and `actor` raise a counter from
// 10,000 tasks; `leaky` loses some.

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
case "leaky":
    for _ in 0..<100 { _ = Unmanaged.passRetained(RacyCounter()) }
default:
    print("usage: RacyCounter racy|actor|leaky")
}
