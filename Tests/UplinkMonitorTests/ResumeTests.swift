// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkMonitor

/// What a monitor does when the system wakes. A machine that runs tests cannot sleep, so the clocks' readings are made
/// up; that the kernel's timer wakes the monitor is tried with the wall clock, moved by a nanosecond and back.
@Suite(.serialized, .timeLimit(.minutes(2)), .needsNetworkNamespaces)
struct ResumeTests {
    @Test func aSleepIsToldThoughTheNetworkIsAsBefore() async throws {
        try await withScenario(from: .ipv4) { scenario in
            let before = try #require(await scenario.observer.latest)
            #expect(before.lastResume == nil)
            var changes = scenario.monitor.changes.makeAsyncIterator()
            await scenario.monitor.watcher.compareClocks(.now)
            await scenario.monitor.watcher.compareClocks(.now(afterSleeping: .seconds(3600)))
            let after = try await scenario.path { $0.lastResume != nil }
            #expect(after.isSatisfied && after.ipv4 == before.ipv4)
            let change = try await changes.next()
            #expect(change == .everything)
            let statistics = await scenario.monitor.statistics
            #expect(statistics.resumes == 1)
            #expect(statistics.resyncs >= 1)
        }
    }

    @Test func whatHappenedWhileAsleepIsSeen() async throws {
        try await withScenario(from: .ipv4) { scenario in
            await scenario.monitor.watcher.compareClocks(.now(afterSleeping: .seconds(1)))
            try scenario.host.ip("route del default")
            let path = try await scenario.path { !$0.isSatisfied }
            #expect(path.lastResume != nil)  // it stays with the paths that follow
        }
    }

    @Test(.enabled(if: WallClock.mayBeSet, "setting the clock needs CAP_SYS_TIME"))
    func aClockThatIsSetWakesTheMonitorButIsNoSleep() async throws {
        try await withScenario(from: .ipv4) { scenario in
            try await scenario.expectNoUpdates {
                for nanoseconds in [1, -1, 1, -1] {
                    let steps = await scenario.monitor.statistics.clockSteps
                    try #require(WallClock.move(by: nanoseconds))
                    try await eventually("the monitor sees the step") {
                        await scenario.monitor.statistics.clockSteps > steps
                    }
                }
            }
            #expect(await scenario.monitor.statistics.resumes == 0)
        }
    }
}

extension ClockReading {
    fileprivate static func now(afterSleeping time: Duration) -> Self {
        var reading = now
        reading.boottime += time
        return reading
    }
}

/// The system's clock, moved by so little that nobody minds.
enum WallClock {
    /// Whether this process may (CAP_SYS_TIME).
    static var mayBeSet: Bool {
        guard let file = fopen("/proc/self/status", "re") else { return false }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = fread(&buffer, 1, buffer.count, file)
        let text = String(decoding: buffer.prefix(count), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let capabilities = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
        return capabilities & 1 << 25 != 0
    }

    /// Adds nanoseconds to the clock; whether that could be done.
    static func move(by nanoseconds: Int) -> Bool {
        typealias Function = @convention(c) (CInt, UnsafeMutableRawPointer) -> CInt  // clock_adjtime(2)
        guard let symbol = dlsym(nil, "clock_adjtime") else { return false }
        var timex = [Int](repeating: 0, count: 26)  // struct timex
        timex[0] = 0x0100 | 0x2000  // ADJ_SETOFFSET | ADJ_NANO
        timex[9] = nanoseconds < 0 ? -1 : 0
        timex[10] = nanoseconds < 0 ? 1_000_000_000 + nanoseconds : nanoseconds
        return unsafeBitCast(symbol, to: Function.self)(CLOCK_REALTIME, &timex) >= 0
    }
}
