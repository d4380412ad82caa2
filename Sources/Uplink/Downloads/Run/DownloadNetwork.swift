// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkHTTP

/// The network as a download sees it, which waits for the network before each attempt, is cancelled when it is lost,
/// and rests between attempts.
struct DownloadNetwork: Sendable {
    /// What the download needs of the network; nil if no monitor is asked.
    private let requirement: NetworkRequirement?
    private let monitor: any NetworkMonitor
    private let performer: NetworkOperationPerformer
    private let clock: ElapsedClock

    init(_ options: DownloadOptions, clock: ElapsedClock) {
        (requirement, monitor, self.clock) = (options.requirement, options.monitor, clock)
        performer = Self.performer(options.monitor, options.clock)
    }

    private static func performer<C: Clock>(_ monitor: any NetworkMonitor, _ clock: C) -> NetworkOperationPerformer
    where C.Duration == Duration {
        NetworkOperationPerformer(monitor: monitor, clock: clock)
    }

    /// Runs an attempt when the network is there, and cancels it when the network is lost. The download's own deadline
    /// ends the wait.
    ///
    /// - Parameter waits: Called if the network is not there, before it is waited for.
    /// - Throws: `NetworkOperationError` with the code `networkLost`, or what the attempt throws.
    func attempt<Value: Sendable>(
        waits: () -> Void, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let requirement else { return try await body() }
        let hasBegun = Locked(false)
        do {
            return try await performer.perform(within: .zero, requiring: requirement, onLoss: .cancel) {
                hasBegun.withLock { $0 = true }
                return try await body()
            }
        } catch let error as NetworkOperationError where error.code == .timedOut && !hasBegun.withLock({ $0 }) {
            waits()
        }
        return try await performer.perform(
            within: .seconds(Int64.max), requiring: requirement, onLoss: .cancel, operation: body)
    }

    /// Reports what the network lacks, nil when it lacks nothing, until the task is cancelled.
    func watch(_ tell: @Sendable (_ lacking: String?) -> Void) async {
        guard let requirement else { return }
        do {
            for try await path in monitor.paths {
                if !requirement.isSatisfied(by: path) {
                    tell("the network (\(requirement)) is away: the path is \(path)")
                } else {
                    // Told while an attempt is waited for, and that begins when the time is over.
                    tell(requirement.stableTime > .zero ? "the network (\(requirement)) has to stay: it is there" : nil)
                }
            }
        } catch {
            // The performer gets the same error, and reports it.
        }
    }

    /// How often the path has changed; nil while it is not known.
    var generation: UInt64? { requirement == nil ? nil : monitor.currentPath?.generation }

    /// Sleeps; a pause that may be cut short ends when the path is no longer that of `generation`. True if it was cut
    /// short.
    func rest(for pause: DownloadMachine.Pause, since generation: UInt64?) async throws -> Bool {
        guard requirement != nil, let least = pause.cutShort, least < pause.length else {
            try await clock.sleep(for: pause.length)
            return false
        }
        try await clock.sleep(for: least)
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            let rest = pause.length - least
            group.addTask {
                try await clock.sleep(for: rest)
                return false
            }
            group.addTask {
                if await hasChanged(since: generation) { return true }
                // The monitor has ended, but the pause has not.
                try await clock.sleep(for: rest)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    /// True as soon as the path has changed; false when the monitor ends.
    private func hasChanged(since generation: UInt64?) async -> Bool {
        var known = generation
        do {
            for try await path in monitor.paths {
                if let known, path.generation != known { return true }
                known = path.generation
            }
        } catch {}
        return false
    }
}
