// SPDX-License-Identifier: Apache-2.0
import Harness
import NIOCore
import UplinkEventLoop

/// What is called: it counts.
protocol CountingActor: Actor {
    var hits: Int { get }
    func hit()
}

extension CountingActor {
    /// Calls another actor in turn, from this one.
    func call(_ other: some CountingActor, _ run: Run) async throws {
        for _ in 0..<100 { await other.hit() }
        run.begin()
        for _ in 0..<run.count { await other.hit() }
        run.end()
        try run.check(await other.hits == run.count + 100)
    }
}

actor OnUplink: CountingActor {
    private let loop: UplinkEventLoop.EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private(set) var hits = 0

    init(_ loop: UplinkEventLoop.EventLoop) { self.loop = loop }

    func hit() { hits += 1 }
}

actor OnNIO: CountingActor {
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private(set) var hits = 0

    init(_ loop: any NIOCore.EventLoop) { executor = loop.executor }

    func hit() { hits += 1 }
}

actor OnPool: CountingActor {
    private(set) var hits = 0
    func hit() { hits += 1 }
}
