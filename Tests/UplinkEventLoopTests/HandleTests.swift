// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing
import UplinkCore
import UplinkEventLoop

/// An actor with a timer and a watcher that records what its callbacks bring.
private actor Recorder: TurnActor {
    nonisolated let eventLoop: EventLoop
    private var timer: LoopTimer?
    private var watcher: DescriptorWatcher?
    private var events: [String] = []
    private var waiter: (count: Int, continuation: CheckedContinuation<[String], Never>)?

    init(on loop: EventLoop) { eventLoop = loop }

    func startTimer(after delay: Duration) throws {
        timer = try LoopTimer(for: self) { $0.record("timer") }
        timer?.start(after: delay)
    }

    func stopTimer() { timer?.stop() }

    func watch(_ descriptor: CInt, _ interest: Readiness) throws {
        watcher = try DescriptorWatcher(of: descriptor, for: self) { recorder, readiness in
            recorder.watcher?.stop()
            recorder.record(readiness.contains(.error) ? "error" : "ready")
        }
        watcher?.start(interest)
    }

    func closeWatcher() {
        watcher?.close()
        watcher = nil
    }

    func recordOrderOfTurn() throws {
        try callAtEndOfTurn()
        events.append("in turn")
    }

    func turnEnds() { record("end of turn") }

    func record(_ event: String) {
        events.append(event)
        guard let (count, continuation) = waiter, events.count >= count else { return }
        continuation.resume(returning: events)
        waiter = nil
    }

    /// The events so far, as soon as there are so many.
    func next(_ count: Int = 1) async -> [String] {
        if events.count >= count { return events }
        return await withCheckedContinuation { waiter = (count, $0) }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct HandleTests {
    @Test func timersFireOnceAndNotEarly() async throws {
        try await withEventLoop { loop in
            let recorder = Recorder(on: loop)
            let start = ContinuousClock.now
            try await recorder.startTimer(after: .milliseconds(20))
            #expect(await recorder.next() == ["timer"])
            #expect(ContinuousClock.now - start >= .milliseconds(20))
        }
    }

    @Test func timersOfAnEndedLoopAreErrors() async throws {
        let recorder = try await withEventLoop { Recorder(on: $0) }
        await #expect(throws: EventLoopError.self) { try await recorder.startTimer(after: .zero) }
    }

    @Test func endlessDelaysDisarm() async throws {
        try await withEventLoop { loop in
            let recorder = Recorder(on: loop)
            try await recorder.startTimer(after: .seconds(Int64.max))
            await recorder.record("nothing fired")
            #expect(await recorder.next() == ["nothing fired"])
        }
    }

    @Test func watchersTellReadiness() async throws {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer {
            close(reading)
            close(writing)
        }
        try await withEventLoop { loop in
            let recorder = Recorder(on: loop)
            try await recorder.watch(reading, .readable)
            _ = write(writing, "x", 1)
            #expect(await recorder.next() == ["ready"])
            await recorder.closeWatcher()
        }
    }

    @Test func anErrorOnADescriptorIsTold() async throws {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        close(reading)
        defer { close(writing) }
        try await withEventLoop { loop in
            let recorder = Recorder(on: loop)
            try await recorder.watch(writing, .writable)
            #expect(await recorder.next() == ["error"])
            await recorder.closeWatcher()
        }
    }

    @Test func aDescriptorThatCannotBeWatchedIsAnError() async throws {
        try await withEventLoop { loop in
            let recorder = Recorder(on: loop)
            await #expect(throws: EventLoopError.self) { try await recorder.watch(-1, .readable) }
        }
    }

    @Test(arguments: [(EMFILE, "ulimit -n"), (ENFILE, "fs.file-max"), (EAGAIN, "ulimit -u")])
    func whatIsShortIsNamed(_ errno: CInt, _ remedy: String) {
        #expect(EventLoopError(.system, during: "starting a thread", errno: errno).message.contains(remedy))
    }

    @Test func endOfTurnComesAfterTheTurn() async throws {
        try await withEventLoop { loop in
            let recorder = Recorder(on: loop)
            try await recorder.recordOrderOfTurn()
            #expect(await recorder.next(2) == ["in turn", "end of turn"])
        }
    }
}
