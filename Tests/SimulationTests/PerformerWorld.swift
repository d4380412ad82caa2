// SPDX-License-Identifier: Apache-2.0
import UplinkTesting

@testable import UplinkCore

/// The performer, shell and machine, with a monitor that is told what to say and a clock that is moved. All its tasks
/// run on an executor that the dice drive: a path may come between a look and the start that it led to, an alarm after
/// what should have disarmed it.
final class PerformerWorld: World, @unchecked Sendable {  // one thread runs all its jobs
    let dice: Dice
    let executor = SeededExecutor()
    let clock = ManualClock()
    let monitor = StubNetworkMonitor()
    let performer: NetworkOperationPerformer
    private let maximumRunning: Int?
    private var calls: [SimulatedCall] = []
    /// Operations that hold a slot of their own.
    private var running = 0
    /// What calls and operations have seen that must not be.
    private var broken: [String] = []
    /// The monitor has failed once; what ran then is not watched.
    private var hasFailed = false
    /// Since when each requirement is met; the monitor's own word.
    private var metSince: [Need: Duration] = [:]

    init(_ dice: Dice) {
        self.dice = dice
        maximumRunning = dice.pick([nil, nil, 1, 2])
        performer = NetworkOperationPerformer(
            PerformerCore(
                monitor: monitor, clock: PerformerClock(clock), maximumRunning: maximumRunning, executor: executor))
        changePath()
    }

    var now: Duration { clock.now.offset }

    // MARK: What happens

    func step() throws {
        if !executor.isIdle, !dice.isOne(in: 3) { return executor.runOne(dice) }
        switch dice.roll(10) {
        case 0, 1, 2: if calls.count < 12 { startCall() }
        case 3, 4, 5: changePath()
        case 6: if !calls.isEmpty { cancel(dice.pick(calls)) }
        case 7, 8: passTime(by: .milliseconds(dice.pick([1, 2, 5, 30])))
        default: passTimeToAlarm()
        }
    }

    private func startCall() {
        let call = SimulatedCall(number: calls.count, dice)
        calls.append(call)
        dice.tell("\(call) is made")
        call.task = Task(name: "\(call)", executorPreference: executor) { await self.run(call) }
    }

    private func cancel(_ call: SimulatedCall) {
        dice.tell("\(call) is cancelled")
        call.isCancelled = true
        call.task?.cancel()
    }

    private func changePath() {
        switch dice.roll(20) {
        case 0: monitor.forget()
        case 1:
            dice.tell("the monitor fails")
            hasFailed = true
            monitor.fail(NetworkMonitorError(.failed, message: "simulated"))
        case 2...9: monitor.send(.online(ipv6: dice.isOne(in: 2)))
        default: monitor.goOffline()
        }
        notePath()
    }

    private func notePath() {
        dice.tell("the path is \(monitor.currentPath.map { "\($0)" } ?? "not known")")
        for need in Need.allCases {
            let isMet = monitor.currentPath.map { need.requirement.isSatisfied(by: $0) } ?? false
            metSince[need] = isMet ? metSince[need] ?? now : nil
        }
    }

    private func passTime(by time: Duration) {
        dice.tell("\(time) pass")
        clock.move(by: time)
    }

    private func passTimeToAlarm() {
        let alarm = performer.core.machine.withLock { $0.alarmDeadline }
        let (time, isTooLarge) = alarm.subtractingReportingOverflow(now.nanosecondsRoundedDown)
        if alarm != .max, !isTooLarge { passTime(by: .nanoseconds(max(0, time))) }
    }

    func end() throws {
        monitor.send(.online(ipv6: true))
        notePath()
        for _ in 0..<2000 {
            if executor.isIdle, calls.allSatisfy(\.isOver) { break }
            if executor.isIdle { passTime(by: .seconds(1)) } else { executor.runOne(dice) }
        }
        for call in calls { try hold(call.isOver, "\(call) never ended") }
        try hold(performer.census == PerformerCensus(), "\(performer.census) is left")
        try hold(clock.sleepers.isEmpty, "\(clock.sleepers) sleep on")
        try hold(!monitor.isObserved, "the monitor is still observed")
    }

    // MARK: What calls do

    private func run(_ call: SimulatedCall) async {
        call.madeAt = now
        call.couldStartAtOnce = maximumRunning == nil && call.need.time == .zero && metSince[call.need] != nil
        let result: Result<Void, any Error>
        do {
            try await perform(call)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        dice.tell("\(call) ends with \(result)")
        broken += call.judge(result, now: now)
    }

    private func perform(_ call: SimulatedCall) async throws {
        let requirement = call.need.requirement
        switch call.form {
        case .waiting:
            try await performer.perform(within: call.limit, requiring: requirement) { try await operate(call) }
        case .nested:
            try await performer.perform(within: call.limit, requiring: requirement) {
                noteStart(of: call)
                running += 1
                defer { running -= 1 }
                // It runs on its parent's slot: with one of its own it could wait for ever for those that wait so too.
                let inner = await performer.perform(withinSeconds: 0.001, requiring: .internet) { await Task.yield() }
                if case .failure(.notStarted(let error)) = inner, error.missing == .slot {
                    broken.append("a call inside \(call) lacked a slot")
                }
            }
        case .supervised:
            try await performer.perform(completingWithin: call.limit, requiring: requirement) {
                try await self.operate(call)
            }
        case .cancelledOnLoss:
            try await performer.perform(completingWithin: call.limit, requiring: requirement, onLoss: .cancel) {
                try await self.operate(call)
            }
        case .retried:
            let policy = RetryPolicy(
                maximumAttempts: SimulatedCall.maximumAttempts, initialPause: .milliseconds(3),
                isNetworkFailure: { $0 is SimulatedCall.Own }, random: { 0.5 })
            try await performer.perform(completingWithin: call.limit, requiring: requirement, onLoss: .retry(policy)) {
                try await self.operate(call)
            }
        }
    }

    private func operate(_ call: SimulatedCall) async throws {
        noteStart(of: call)
        running += 1
        defer { running -= 1 }
        do {
            try await clock.sleep(for: call.duration)
        } catch  where call.ignoresCancellation {
            await Task.yield()
        }
        if call.fails { throw SimulatedCall.Own() }
    }

    private func noteStart(of call: SimulatedCall) {
        dice.tell("\(call) runs")
        call.runs += 1
        if let maximumRunning, running >= maximumRunning { broken.append("\(running + 1) run at once") }
        // In the caller's own task nothing comes between the last look and the operation.
        guard !call.form.isSupervised else { return }
        guard let since = metSince[call.need] else { return broken.append("\(call) ran without its network") }
        if now < since + call.need.time { broken.append("\(call) ran \(now - since) after the network came") }
        if call.isCancelled { broken.append("\(call) ran though it was cancelled") }
    }

    // MARK: What holds

    func check() throws {
        if let first = broken.first { throw Violation(first) }
        let now = now.nanosecondsRoundedDown
        let violation = performer.core.machine.withLock { Self.violation(in: $0, now: now, hasFailed: hasFailed) }
        if let violation { throw Violation(violation) }
        if executor.isIdle { try checkNothingIsDue() }
    }

    /// All who were to be told have been told: what is there to be done has been done, at this very time.
    private func checkNothingIsDue() throws {
        let now = now.nanosecondsRoundedDown
        guard let path = monitor.currentPath else { return }
        try performer.core.machine.withLock { machine in
            for id in machine.calls.ids {
                guard let call = machine.calls[id] else { continue }
                // A monitor that has failed tells nothing until somebody asks it again.
                let isMet = machine.subscription.isActive ? call.requirement.isSatisfied(by: path) : nil
                switch call.stage {
                case .entered, .decided: throw Violation("a call is on its way, and nobody goes")
                case .waiting:
                    try hold(call.deadline > now, "a call waits \(now - call.deadline) ns beyond its deadline")
                    if call.isInLine { continue }
                    try hold(isMet == (call.steadySince != nil), "a call waits, and knows nothing of \(path)")
                    try hold(call.steadyFrom ?? .max > now, "a call waits, and lacks nothing")
                case .running:
                    let isLost = call.watchesLoss && isMet == false
                    try hold(!isLost, "an operation runs on, and its network is lost")
                    let isLate = call.isSupervised && call.deadline <= now
                    try hold(!isLate, "an operation runs \(now - call.deadline) ns beyond its deadline")
                // Cancelled, a simulated operation ends at once.
                case .overdue, .lost, .abandoned: throw Violation("an operation runs on, and was to be cancelled")
                }
            }
        }
    }

    private static func violation(in machine: PerformerMachine, now: Int64, hasFailed: Bool) -> String? {
        var (waiting, watching, held) = (0, 0, 0)
        for id in machine.calls.ids {
            guard let call = machine.calls[id] else { return "a call in the table is none" }
            if call.slot != nil { held += 1 }
            if call.isInLine, call.steadyFrom ?? .max > now { return "a call in line lacks more than a slot" }
            switch call.stage {
            case .entered, .decided: waiting += 1
            case .waiting:
                waiting += 1
                if !machine.subscription.isActive { return "a call waits, and nobody watches the monitor" }
                if call.deadline != .max, !call.isInGrace,
                    !machine.alarm.isActive || machine.alarmDeadline > call.deadline
                {
                    return "a call waits, and no alarm is set for its deadline"
                }
            case .running, .overdue, .lost, .abandoned:
                if call.watchesLoss { watching += 1 }
                if machine.maximumRunning != nil, call.slot == nil { return "a call runs without a slot" }
            }
        }
        if watching > 0, !machine.subscription.isActive, !hasFailed { return "nobody watches for operations that run" }
        if waiting != machine.waitingCount { return "\(waiting) calls wait, and \(machine.waitingCount) are counted" }
        if watching != machine.watchingCount { return "\(watching) watch, and \(machine.watchingCount) are counted" }
        let slots = machine.slots.ids.compactMap { machine.slots[$0] }
        if slots.reduce(0, +) != held { return "slots \(slots) for \(held) calls" }
        guard let maximum = machine.maximumRunning else { return nil }
        if slots.count > maximum { return "\(slots.count) slots are taken" }
        return machine.line.isEmpty || slots.count == maximum ? nil : "calls wait in line for slots that are free"
    }
}

/// What a simulated call needs.
enum Need: CaseIterable {
    case internet, ipv6, stable

    var time: Duration { self == .stable ? .milliseconds(7) : .zero }

    var requirement: NetworkRequirement {
        switch self {
        case .internet: .internet
        case .ipv6: .ipv6
        case .stable: .internet.and(.stable(for: time))
        }
    }
}
