// SPDX-License-Identifier: Apache-2.0
import Glibc
import PlainC

/// One run of a subject in this process: how many operations, and what they cost.
public final class Run: @unchecked Sendable {  // used by one task, which waits for the others' ends
    public let count: Int
    private var start = Reading()
    private var lastMark = 0.0
    private var bytesAtStart = 0.0
    private(set) var figures: Figures?
    private var notes: [String: Double] = [:]

    init(count: Int) { self.count = count }

    /// Begins to count what the process uses. What must be there before has been made and used once.
    public func begin() {
        bytesAtStart = Double(plain_bytes_in_use())
        start = Reading()
        lastMark = start.cpu
    }

    /// Notes the processor time since the beginning or the last mark, as a part with this name.
    public func mark(_ part: String) {
        let cpu = Reading().cpu
        notes[part] = cpu - lastMark
        lastMark = cpu
    }

    /// Notes the bytes that malloc has handed out since the beginning and not got back.
    public func noteBytes(_ name: String) { notes[name] = Double(plain_bytes_in_use()) - bytesAtStart }

    /// Ends the count, after `operations` in all, if these are not `count`.
    public func end(operations: Int? = nil) {
        let (end, operations) = (Reading(), Double(operations ?? count))
        figures = Figures(
            cpu: (end.cpu - start.cpu) / operations, wall: (end.wall - start.wall) / operations,
            peak: max(0, end.peak - start.resident) / operations, notes: notes.mapValues { $0 / operations })
    }

    /// The same around a body.
    public func measure(operations: Int? = nil, _ body: () async throws -> Void) async rethrows {
        begin()
        try await body()
        end(operations: operations)
    }

    /// Fails the run unless the subject did all of its work.
    public func check(_ isRight: Bool) throws(WrongResult) { if !isRight { throw WrongResult() } }
}

/// What one operation cost: seconds of processor time and of wall time, bytes of resident memory at most.
struct Figures: Sendable {
    var cpu: Double
    var wall: Double
    var peak: Double
    var notes: [String: Double]
}

/// What the process has used so far.
private struct Reading {
    let cpu: Double
    let wall: Double
    /// Bytes.
    let resident: Double
    let peak: Double

    init() {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        wall = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        peak = Double(usage.ru_maxrss) * 1024
        resident = Double(residentPages()) * Double(getpagesize())
    }
}

private func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

private func residentPages() -> Int {
    let words = (readWhole("/proc/self/statm") ?? "").split(separator: " ")
    return words.count > 1 ? Int(words[1]) ?? 0 : 0
}
