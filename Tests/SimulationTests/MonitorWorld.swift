// SPDX-License-Identifier: Apache-2.0
import UplinkCore

@testable import UplinkMonitor

/// The monitor's tables over a kernel that is a model: `KernelNetwork` with `InterfaceTable` and `PathEvaluation`, then
/// `PathEmission` and `ChangeDetector`, as the watcher puts them together. Messages come late, are dropped, or are
/// forged, and the kernel changes between two questions.
final class MonitorWorld: World {
    let dice: Dice
    let kernel: SimulatedKernel
    private let configuration: LinuxNetworkMonitor.Configuration
    private let network: KernelNetwork
    private var emission: PathEmission
    private var detector = ChangeDetector()
    private var now = SuspendingClock().now
    private var timer: SuspendingClock.Instant?
    private var latest: NetworkPath?
    private var lastLook: (addresses: Set<IPAddress>, path: NetworkPath)?
    /// Since when each path that was seen has been none.
    private var awaySince: SuspendingClock.Instant?
    private var told: (path: NetworkPath, at: SuspendingClock.Instant)?

    init(_ dice: Dice) {
        self.dice = dice
        kernel = SimulatedKernel(dice)
        for _ in 0..<dice.roll(8) { kernel.change() }
        var configuration = LinuxNetworkMonitor.Configuration()
        configuration.resolverFile = nil
        configuration.minimumInterval = dice.pick([.zero, .milliseconds(100)])
        configuration.settle = dice.pick([.zero, .milliseconds(500)])
        self.configuration = configuration
        emission = PathEmission(minimumInterval: configuration.minimumInterval, settle: configuration.settle)
        do {
            network = try KernelNetwork(configuration, events: kernel.events, query: kernel.questions)
        } catch {
            preconditionFailure("a kernel that is a model refuses: \(error)")
        }
    }

    // MARK: What happens

    func step() throws {
        switch dice.roll(10) {
        case 0, 1, 2, 3: kernel.change()
        case 4:
            if dice.isOne(in: 4) { kernel.drop() }
            if dice.isOne(in: 3) { kernel.heal() }
        case 5, 6, 7: try read()
        case 8: if let due { try passTime(by: now.duration(to: due)) }
        default: try passTime(by: .milliseconds(dice.pick([1, 40, 100, 300, 600])))
        }
    }

    private func read() throws {
        if try network.readEvents() || latest == nil { try evaluate() }
    }

    private func evaluate() throws {
        let path = try network.path()
        dice.tell("the path is \(path)")
        awaySince = path.isSatisfied ? nil : awaySince ?? now
        let isChange = latest.map { PathKey($0) != PathKey(path) } ?? true
        let generation = emission.generation
        latest = path
        let change = detector.look(
            addresses: network.table.usableAddresses, path: path, stranded: network.table.strandedAddresses)
        try check(change, path)
        try perform(emission.evaluated(path, at: now))
        try hold(!isChange || emission.generation > generation, "a change is seen, and not counted")
    }

    private func passTime(by time: Duration) throws {
        now = now.advanced(by: time)
        guard let timer, timer <= now else { return }
        self.timer = nil
        try perform(emission.timerFired(at: now))
    }

    private func perform(_ action: PathEmission.Action) throws {
        switch action {
        case .none: break
        case .wait(let time):
            try hold(time > .zero, "waits for \(time)")
            timer = now.advanced(by: time)
        case .emit(let path): try tell(path)
        case .renumber(let generation):
            try hold(generation > (told?.path.generation ?? 0), "generation \(generation) is not new")
        }
    }

    private func tell(_ path: NetworkPath) throws {
        dice.tell("told: \(path)")
        defer { told = (path, now) }
        let completed = try network.completed(path)
        try hold(completed.ipv4.source == path.ipv4.source, "a path changes when it is completed")
        guard let told else { return }
        try hold(
            path.generation > told.path.generation, "generation \(path.generation) follows \(told.path.generation)")
        try hold(PathKey(path) != PathKey(told.path), "the same path is told twice")
        let isReturn = !told.path.isSatisfied && path.isSatisfied
        let isTooSoon = !isReturn && told.at.duration(to: now) < configuration.minimumInterval
        try hold(!isTooSoon, "told \(told.at.duration(to: now)) after the one before")
        guard told.path.isSatisfied, !path.isSatisfied else { return }
        try hold(awaySince.map { $0.duration(to: now) >= configuration.settle } ?? false, "a loss is told too early")
    }

    // MARK: What holds

    /// What broke is the difference of two looks.
    private func check(_ change: NetworkChange?, _ path: NetworkPath) throws {
        let addresses = network.table.usableAddresses
        defer { lastLook = (addresses, path) }
        guard let lastLook else { return try hold(change == nil, "\(change.map { "\($0)" } ?? "-") at the first look") }
        let removed = lastLook.addresses.subtracting(addresses)
        let told = change?.removedAddresses ?? []
        try hold(told.isSuperset(of: removed), "\(removed) went, and nobody says so")
        let stranded = Set(network.table.links.keys.flatMap(network.table.strandedAddresses))
        try hold(told.subtracting(removed).isSubset(of: stranded), "\(told) is told, where only \(removed) went")
        for family in IPAddress.Family.allCases {
            let (before, after) = (lastLook.path[family], path[family])
            let isSame =
                !before.isAvailable
                || after.isAvailable && before.interfaceIndex == after.interfaceIndex && before.gateway == after.gateway
                    && before.source == after.source
            let isToldOf = change?.changedDefaultRoutes.contains(family) ?? false
            try hold(isSame != isToldOf, "\(family): \(before), then \(after), and it is told: \(isToldOf)")
        }
    }

    /// When what is not as it was told is to be told; no other change puts it off.
    private var due: SuspendingClock.Instant? {
        guard let told, let latest, PathKey(told.path) != PathKey(latest) else { return nil }
        let due = told.at.advanced(by: configuration.minimumInterval)
        guard told.path.isSatisfied, let awaySince else { return due }
        return max(due, awaySince.advanced(by: configuration.settle))
    }

    func check() throws {
        if let due { try hold(now < due, "for \(due.duration(to: now)) something else should have been told") }
        guard let latest, kernel.isQuiet, dice.isOne(in: 6) else { return }
        // The kernel's word as one hears it who asks now for the first time.
        kernel.isRestless = false
        defer { kernel.isRestless = true }
        let other = try KernelNetwork(configuration, events: SimulatedKernel.silence, query: kernel.questions)
        let path = try other.path()
        try hold(PathKey(path) == PathKey(latest), "the path is \(latest), and from scratch \(path)")
        try hold(other.table.links == network.table.links, "\(network.table.links) are known, not \(other.table.links)")
        for index in other.table.links.keys {
            let (known, real) = (network.table.addresses(of: index), other.table.addresses(of: index))
            let isSame = known.count == real.count && known.allSatisfy(real.contains)
            try hold(isSame, "\(known) are known on \(index), and there are \(real)")
        }
    }

    func end() throws {
        kernel.isRestless = false
        while !kernel.isQuiet || latest == nil { try read() }
        try passTime(by: .seconds(1))
        try passTime(by: .seconds(1))
        guard let told, let latest else { throw Violation("nothing was ever told") }
        try hold(PathKey(told.path) == PathKey(latest), "the path is \(latest), and told was \(told.path)")
    }
}
