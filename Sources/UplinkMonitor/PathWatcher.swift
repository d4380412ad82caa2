// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkEventLoop

/// Watches the kernel's network on a loop while there is demand, and sends every path to the broadcaster.
///
/// The broadcasters keep the watcher alive, never the other way round: once nobody holds the monitor or one of its
/// sequences any more, everything goes away, including the sockets.
actor PathWatcher: LoopActor {
    nonisolated let eventLoop: EventLoop
    let configuration: LinuxNetworkMonitor.Configuration
    private let validator: PathValidator?
    private weak var paths: NetworkPathBroadcaster?
    private weak var changes: NetworkChangeBroadcaster?
    let handles = WatchHandles()
    private var network: KernelNetwork? { handles.network }
    private var validation: ValidationRunner? { handles.validation }
    private var resumeDetector = ResumeDetector(.now)
    private var expiry = RouteExpiry()
    private var emission: PathEmission
    private var changeDetector = ChangeDetector()
    private var lastResume: ContinuousClock.Instant?
    /// The path as the kernel knows it, with nothing added.
    private var latest: NetworkPath?
    var counted = MonitorStatistics()
    private var isStopped = false
    /// Whether a reading is due in the loop's next turn.
    private var readsOn = false

    init(on loop: EventLoop, _ configuration: LinuxNetworkMonitor.Configuration, _ validator: PathValidator?) {
        eventLoop = loop
        self.configuration = configuration
        self.validator = validator
        emission = PathEmission(minimumInterval: configuration.minimumInterval, settle: configuration.settle)
    }

    deinit { eventLoop.executeUnlessEnded { [handles] in handles.close() } }

    /// Sets the receivers of paths and changes. Comes before everything else.
    func attach(_ paths: NetworkPathBroadcaster?, _ changes: NetworkChangeBroadcaster?) {
        self.paths = paths
        self.changes = changes
    }

    /// Starts with the first subscriber and pauses after the last, whichever kind it was.
    func reconcile() {
        let isWanted = !isStopped && (paths?.hasSubscribers == true || changes?.hasSubscribers == true)
        if isWanted, !isAtWork { start() }
        if !isWanted, isAtWork { pause() }
        lookForChanges()
    }

    /// Ends the work for good.
    func stop() {
        isStopped = true
        close()
    }

    /// The counts so far.
    var statistics: MonitorStatistics {
        var statistics = counted
        if let network { statistics.add(network.statistics) }
        statistics.validations += validation?.started ?? 0
        statistics.told = emission.emitted
        statistics.suppressed = emission.suppressed
        statistics.superseded = paths?.supersededPaths ?? 0
        return statistics
    }

    /// The port of the event socket, for tests that forge messages.
    var eventPort: UInt32 { network?.eventPort ?? 0 }

    /// Looks for events without having been notified, for tests.
    func readNow() { ready(.readable) }
}

// MARK: At work and at rest

extension PathWatcher {
    private var isAtWork: Bool { network != nil || handles.poller != nil }

    private func start() {
        do throws(NetworkMonitorError) {
            let network = try open()
            handles.network = network
            try evaluate(network)
        } catch {
            fail(error)
        }
    }

    private func open() throws(NetworkMonitorError) -> KernelNetwork {
        try configuration.check()
        do {
            let network = try KernelNetwork(configuration)
            let watcher = try DescriptorWatcher(
                of: network.eventDescriptor, for: self, ended: { $0.fail(.loopEnded) }, { $0.ready($1) })
            handles.expiryTimer = try LoopTimer(for: self) { $0.routeExpired() }
            try openTimers()
            handles.watcher = watcher
            watcher.start(.readable)
            try readResolvers()
            return network
        } catch let error as NetlinkError {
            throw .unavailable(error)
        } catch {
            throw .unavailable(error)
        }
    }

    func openTimers() throws(EventLoopError) {
        handles.intervalTimer = try LoopTimer(for: self, ended: { $0.fail(.loopEnded) }) { $0.intervalEnded() }
        resumeDetector = ResumeDetector(.now)
        handles.resumeWatch = try ResumeWatch(for: self) { $0.clockStepped() }
        if let validator {
            handles.validation = try ValidationRunner(for: self, validator, after: counted.validations)
        }
    }

    private func readResolvers() throws {
        guard let path = configuration.resolverFile else { return }
        let file = ResolverFile(at: path, on: eventLoop) { [weak self] resolvers in
            self?.assumeIsolated { $0.resolversChanged(resolvers) }
        }
        try file.assumeIsolated { try $0.start() }
        handles.resolverFile = file
    }

    private func pause() {
        close()
        paths?.forgetIfUnobserved()
    }

    /// Closes what is open, and forgets what is known.
    func close() {
        if let network { counted.add(network.statistics) }
        counted.validations += validation?.started ?? 0
        handles.close()
        expiry = RouteExpiry()
        latest = nil
        changeDetector.forget()
        emission.restart()
    }

    private func fail(_ error: NetworkMonitorError) {
        close()
        if startPolling(insteadOf: error) { return }
        paths?.fail(error)
        changes?.fail(error)
    }
}

// MARK: What happens

extension PathWatcher {
    private func ready(_ readiness: Readiness) {
        withNetwork { network throws(NetworkMonitorError) in
            let isRelevant = try reading { () throws(NetlinkError) in try network.readEvents() }
            if isRelevant { try evaluate(network) }
            if readiness.contains(.error) { handles.watcher?.start(.readable) }  // libuv has stopped watching
        }
    }

    /// Reads in the loop's next turn, whether or not there is anything then.
    private func readOn() {
        guard !readsOn else { return }
        readsOn = true
        eventLoop.executeUnlessEnded { [weak self] in
            self?.assumeIsolated {
                $0.readsOn = false
                $0.ready([])
            }
        }
    }

    private func intervalEnded() {
        guarded { () throws(NetworkMonitorError) in try perform(emission.timerFired(at: .now)) }
    }

    private func routeExpired() { withNetwork { network throws(NetworkMonitorError) in try evaluate(network) } }

    private func resolversChanged(_ resolvers: [DNSConfiguration.Resolver]) {
        withNetwork { network throws(NetworkMonitorError) in
            network.update(resolvers)
            try evaluate(network)
        }
    }

    private func clockStepped() {
        guard handles.resumeWatch?.wasStepped() == true else { return }
        counted.clockSteps += 1
        compareClocks(.now)
    }

    /// Starts again when the system has slept: nothing from before is certain, and changes may not have been reported.
    func compareClocks(_ clocks: ClockReading) {
        guard resumeDetector.sleep(until: clocks) != nil else { return }
        counted.resumes += 1
        lastResume = .now
        changes?.send(.everything)
        validation?.restart()
        poll()
        withNetwork { network throws(NetworkMonitorError) in
            try reading { () throws(NetlinkError) in try network.resync() }
            try evaluate(network)
        }
    }

    /// Looks again, because somebody found the network bad.
    func reportBadNetwork() {
        validation?.report()
        poll()
        withNetwork { network throws(NetworkMonitorError) in try evaluate(network) }
    }

    /// A probe's pause or time limit is over.
    func validationIsDue(_ family: IPAddress.Family) {
        validation?.timerFired(family)
        guarded { () throws(NetworkMonitorError) in try tell() }
    }

    /// A probe has found something out.
    func probeEnded(_ number: UInt64, of family: IPAddress.Family, _ found: PathValidation) {
        validation?.probeEnded(number, of: family, found)
        guarded { () throws(NetworkMonitorError) in try tell() }
    }

    private func withNetwork(_ body: (KernelNetwork) throws(NetworkMonitorError) -> Void) {
        guard let network else { return }
        guarded { () throws(NetworkMonitorError) in try body(network) }
    }

    func guarded(_ body: () throws(NetworkMonitorError) -> Void) {
        do throws(NetworkMonitorError) { try body() } catch { fail(error) }
    }

    /// A failure on a socket that worked: reported once, because an immediate retry could go on forever.
    private func reading<Result>(_ body: () throws(NetlinkError) -> Result) throws(NetworkMonitorError) -> Result {
        do { return try body() } catch { throw .failed(error) }
    }
}

// MARK: Publishing

extension PathWatcher {
    private func evaluate(_ network: KernelNetwork) throws(NetworkMonitorError) {
        defer { if network.hasToReadOn { readOn() } }
        let path = try reading { () throws(NetlinkError) in try network.path() }
        if let time = expiry.asked(timeToExpiry: network.timeToExpiry, at: .now) {
            handles.expiryTimer?.start(after: time)
        } else {
            handles.expiryTimer?.stop()
        }
        guard network.knowsResolvers else { return noted(path) }  // the first path waits for them, briefly
        try learned(path)
    }

    /// Processes the current path, from whichever source.
    func learned(_ path: NetworkPath) throws(NetworkMonitorError) {
        noted(path)
        validation?.pathIs(path)
        try tell()
    }

    private func noted(_ path: NetworkPath) {
        latest = path
        lookForChanges()
    }

    private func tell() throws(NetworkMonitorError) {
        guard var path = latest else { return }
        path.lastResume = lastResume
        validation?.annotate(&path)
        try perform(emission.evaluated(path, at: .now))
    }

    private func perform(_ action: PathEmission.Action) throws(NetworkMonitorError) {
        switch action {
        case .none: break
        case .wait(let duration): handles.intervalTimer?.start(after: duration)
        case .renumber(let generation): paths?.renumber(to: generation)
        case .emit(let path):
            let network = network
            paths?.send(try reading { () throws(NetlinkError) in try network?.completed(path) ?? path })
        }
    }

    private func lookForChanges() {
        guard let changes, changes.hasSubscribers, let latest,
            let table = network?.table ?? handles.poller?.latest?.table
        else { return changeDetector.forget() }
        let change = changeDetector.look(
            addresses: table.usableAddresses, path: latest, stranded: table.strandedAddresses)
        if let change { changes.send(change) }
    }
}
