// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP
import UplinkTesting

@testable import Uplink
@testable import UplinkCore
@testable import UplinkMonitor

/// A download that outlives outages: a model kernel's messages become paths, paths start and cancel the performer's
/// operations, and an operation is an attempt whose bytes come through a transfer and its mailbox. One clock for all,
/// and one thread; the shells of performer, monitor's subscribers and mailbox are the real ones.
final class OutageWorld: World, @unchecked Sendable {  // one thread runs all its jobs
    private final class Monitor: NetworkMonitor {
        let broadcaster = NetworkPathBroadcaster(keepsPath: true)
        var currentPath: NetworkPath? { broadcaster.currentPath }
        var paths: NetworkPaths { broadcaster.paths }
    }

    let dice: Dice
    private let executor = SeededExecutor()
    private let clock = ManualClock()
    private let start = SuspendingClock().now
    private let kernel: SimulatedKernel
    private let network: KernelNetwork
    private var emission = PathEmission(minimumInterval: .milliseconds(100), settle: .zero)
    private var emissionTimer: Duration?
    private let monitor = Monitor()
    private let performer: NetworkOperationPerformer

    private var server: SimulatedServer
    private var machine = DownloadMachine(url: SimulatedServer.url, limits: DownloadLimits(DownloadOptions()))
    private var exchange: SimulatedExchange?
    private var file: [UInt8] = []
    private var fileVersion: Int?
    private var running = 0
    private var outcome: Result<Void, any Error>?
    private var broken: [String] = []

    init(_ dice: Dice) {
        self.dice = dice
        kernel = SimulatedKernel(dice)
        var configuration = LinuxNetworkMonitor.Configuration()
        configuration.resolverFile = nil
        do {
            network = try KernelNetwork(configuration, events: kernel.events, query: kernel.questions)
        } catch {
            preconditionFailure("a kernel that is a model refuses: \(error)")
        }
        performer = NetworkOperationPerformer(
            PerformerCore(
                monitor: monitor, clock: PerformerClock(clock), maximumRunning: nil, executor: executor))
        server = SimulatedServer(dice)
        Task(executorPreference: executor) {
            do {
                try await self.download()
                self.outcome = .success(())
            } catch {
                self.outcome = .failure(error)
            }
        }
    }

    private var now: Duration { clock.now.offset }

    // MARK: What happens

    func step() throws {
        if !executor.isIdle, !dice.isOne(in: 3) { return executor.runOne(dice) }
        switch dice.roll(12) {
        case 0: kernel.change()
        case 1: if dice.isOne(in: 2) { kernel.heal() }
        case 2: if dice.isOne(in: 10) { server.change() }
        case 3, 4: try readEvents()
        case 5: try passTime(by: .milliseconds(dice.pick([1, 20, 100, 1000])))
        default: try exchange?.goOn(dice, now: now)
        }
    }

    private func passTime(by time: Duration) throws {
        clock.move(by: time)
        if let timer = emissionTimer, timer <= now {
            emissionTimer = nil
            perform(emission.timerFired(at: start.advanced(by: now)))
        }
        try exchange?.timePassed(now: now)
    }

    private func readEvents() throws {
        guard try network.readEvents() || monitor.currentPath == nil else { return }
        perform(emission.evaluated(try network.path(), at: start.advanced(by: now)))
    }

    private func perform(_ action: PathEmission.Action) {
        switch action {
        case .none: break
        case .wait(let time): emissionTimer = now + time
        case .emit(let path):
            dice.tell("the path is \(path)")
            monitor.broadcaster.send(path)
        case .renumber(let generation): monitor.broadcaster.renumber(to: generation)
        }
    }

    // MARK: The download

    private func download() async throws {
        while true {
            let step: DownloadMachine.Step
            do {
                step = try await performer.perform(
                    within: .seconds(Int64.max), requiring: .internet, onLoss: .cancel
                ) { try await self.attempt() }
            } catch {
                step = machine.failed(.init(error))
            }
            dice.tell("\(step)")
            if machine.version == nil { (file, fileVersion) = ([], nil) }
            switch step {
            case .complete: return
            case .fail(let error): throw error
            case .again(let pause, _): if pause.length > .zero { try await clock.sleep(for: pause.length) }
            }
        }
    }

    private func attempt() async throws -> DownloadMachine.Step {
        running += 1
        defer { running -= 1 }
        if running > 1 { broken.append("two attempts run at once") }
        let plan = machine.ask()
        let exchange = SimulatedExchange(server.answer(to: plan), now: now)
        self.exchange = exchange
        let answer = try await exchange.head()
        switch machine.answered(answer.head) {
        case .begin: (file, fileVersion) = ([], answer.version)
        case .append:
            if answer.body.lowerBound != file.count || answer.version != fileVersion {
                broken.append("puts \(answer.body) of version \(answer.version) behind \(file.count) bytes")
            }
        case .leave(let step):
            exchange.leave()
            return step
        }
        while let chunk = try await exchange.next() {
            if let step = machine.received(chunk.count) {
                exchange.leave()
                return step
            }
            file += chunk.bytes
        }
        return machine.bodyEnded()
    }

    // MARK: What holds

    func check() throws {
        if let first = broken.first { throw Violation(first) }
        if let fault = exchange?.fault { throw Violation(fault) }
        guard let fileVersion else { return try hold(file.isEmpty, "bytes of no version") }
        for (offset, byte) in file.enumerated() where byte != SimulatedServer.byte(offset, of: fileVersion) {
            throw Violation("byte \(offset) is not that of version \(fileVersion)")
        }
    }

    func end() throws {
        kernel.isRestless = false
        kernel.heal()
        server.isWell = true
        for _ in 0..<20_000 {
            if outcome != nil { break }
            try readEvents()
            if executor.isIdle {
                try exchange?.goOn(dice, now: now)
                if executor.isIdle { try passTime(by: .seconds(1)) }
            } else {
                executor.runOne(dice)
            }
            try check()
        }
        switch outcome {
        case nil: throw Violation("does not end, though all is well; \(performer.census)")
        case .failure(let error):
            let code = (error as? DownloadError)?.code
            let isDone = code == .unexpectedStatus || code == .unframedBody || code == .tooManyRestarts
            try hold(isDone, "fails with \(error)")
        case .success:
            let isWhole = fileVersion.map { server.size(of: $0) == file.count } ?? false
            try hold(isWhole, "is whole with \(file.count) bytes")
        }
        while !executor.isIdle { executor.runOne(dice) }
        try hold(performer.census == PerformerCensus(), "\(performer.census) is left")
        try hold(clock.sleepers.isEmpty, "\(clock.sleepers) sleep on")
        try hold(!monitor.broadcaster.hasSubscribers, "the monitor is still observed")
    }
}
