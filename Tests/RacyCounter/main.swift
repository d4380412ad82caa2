// SPDX-License-Identifier: Apache-2.0
// The positive control of the runs under ThreadSanitizer and valgrind, and of what the runtime says of continuations.
// `racy`, `leaky` and `forgetful` must be reported, `actor` must not; if one of the others is not, a clean run of the
// suite proves nothing. `racy` and `actor` raise a counter from 10,000 tasks; `leaky` loses some; `forgetful` drops a
// continuation.

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
case "forgetful":
    Task { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }
    try await Task.sleep(for: .milliseconds(100))  // time for it: nothing that it waits for will ever come
default:
    print("usage: RacyCounter racy|actor|leaky|forgetful")
}
