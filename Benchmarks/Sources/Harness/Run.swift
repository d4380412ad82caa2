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
    private var facts: [String: Double] = [:]

    static let peakOfAll = "peak-of-all"
    static let contextSwitches = "context-switches"

    init(count: Int) { self.count = count }

    /// Begins to count what the process uses. What must be there before has been made and used once.
    public func begin() {
        bytesAtStart = Double(plain_bytes_in_use())
        forgetPeak()
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

    /// Notes a figure of the whole run: seconds, or a number. It is not divided by the operations.
    public func note(_ name: String, _ value: Double) {
        facts[name] = value
        figures?.notes[name] = value
    }

    /// Ends the count, after `operations` in all, if these are not `count`.
    public func end(operations: Int? = nil) {
        let (end, operations) = (Reading(), Double(operations ?? count))
        facts[Self.peakOfAll] = max(0, end.peak - start.resident)
        facts[Self.contextSwitches] = end.switches - start.switches
        figures = Figures(
            cpu: (end.cpu - start.cpu) / operations, wall: (end.wall - start.wall) / operations,
            peak: max(0, end.peak - start.resident) / operations,
            notes: notes.mapValues { $0 / operations }.merging(facts) { $1 })
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
    let switches: Double

    init() {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        wall = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        switches = Double(usage.ru_nvcsw + usage.ru_nivcsw)
        peak = peakOfResident() ?? Double(usage.ru_maxrss) * 1024
        resident = Double(residentPages()) * Double(getpagesize())
    }
}

private func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

/// Lets the kernel forget what the process held before (proc(5), clear_refs). The other peak, getrusage's, begins with
/// the parent's memory.
private func forgetPeak() {
    guard let file = fopen("/proc/self/clear_refs", "w") else { return }
    fputs("5", file)
    fclose(file)
}

private func peakOfResident() -> Double? {
    for line in (readWhole("/proc/self/status") ?? "").split(separator: "\n") where line.hasPrefix("VmHWM:") {
        return Double(line.split(separator: " ").dropLast().last ?? "").map { $0 * 1024 }
    }
    return nil
}

private func residentPages() -> Int {
    let words = (readWhole("/proc/self/statm") ?? "").split(separator: " ")
    return words.count > 1 ? Int(words[1]) ?? 0 : 0
}
