// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkEventLoop

/// Watches a descriptor's number, and notes what it reads there whenever it is told that there is something.
private actor NumberWatcher: LoopActor {
    nonisolated let eventLoop: EventLoop
    private var watcher: DescriptorWatcher?
    private(set) var notes: [String] = []

    init(on loop: EventLoop) { eventLoop = loop }

    func watch(_ number: CInt) throws {
        watcher = try DescriptorWatcher(of: number, for: self) { owner, _ in owner.readOne(from: number) }
        watcher?.start(.readable)
    }

    /// Closes the watcher, gives the number to another descriptor's pipe, and watches it again: all in one turn.
    func watchAgain(_ number: CInt, as other: CInt) throws {
        watcher?.close()
        watcher = nil
        guard dup2(other, number) == number else { throw SetupFailure(activity: "dup2", errno: errno) }
        try watch(number)
    }

    /// The same in the turn in which the number is watched for the first time.
    func watch(_ number: CInt, andAgainAs other: CInt) throws {
        try watch(number)
        try watchAgain(number, as: other)
    }

    func closeWatcher() {
        watcher?.close()
        watcher = nil
    }

    private func readOne(from number: CInt) {
        var byte: UInt8 = 0
        let count = read(number, &byte, 1)
        notes.append(count == 1 ? String(decoding: [byte], as: UTF8.self) : "nothing")
    }
}

/// The kernel gives a number again as soon as its descriptor is closed, and its table of what is watched knows numbers.
@Suite(.timeLimit(.minutes(1)))
struct HandleNumberTests {
    private struct Pipe {
        let reading: CInt
        let writing: CInt

        init() throws {
            var ends: [CInt] = [0, 0]
            guard pipe(&ends) == 0 else { throw SetupFailure(activity: "pipe", errno: errno) }
            (reading, writing) = (ends[0], ends[1])
        }
    }

    /// What comes into the old pipe, which lives on under another number, is not told; what comes into the new one is
    /// told once. Both where the loop has waited for the old one before and where it has not come to that.
    @Test(arguments: [false, true])
    func aNumberThatComesBackIsWatchedForItsNewPipeAlone(_ wasWaitedFor: Bool) async throws {
        let old = try Pipe()
        let new = try Pipe()
        let number = old.reading
        let kept = dup(number)
        defer { for descriptor in [number, old.writing, kept, new.reading, new.writing] { close(descriptor) } }
        try await withEventLoop { loop in
            let owner = NumberWatcher(on: loop)
            let clock = LoopClock(on: loop)
            if wasWaitedFor {
                try await owner.watch(number)
                try await clock.sleep(for: .milliseconds(1))  // real time: a turn that ends with waiting for it
                try await owner.watchAgain(number, as: new.reading)
            } else {
                try await owner.watch(number, andAgainAs: new.reading)
            }
            _ = write(old.writing, "a", 1)
            try await clock.sleep(for: .milliseconds(2))  // real time: a turn in which it would be told
            _ = write(new.writing, "b", 1)
            try await eventually("the new pipe is told of") { await !owner.notes.isEmpty }
            try await clock.sleep(for: .milliseconds(2))  // real time: a turn in which it would be told again
            #expect(await owner.notes == ["b"])
            await owner.closeWatcher()
        }
    }
}
