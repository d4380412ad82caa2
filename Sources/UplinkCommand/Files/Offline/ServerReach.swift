// SPDX-License-Identifier: Apache-2.0
#if Store
import Uplink
import UplinkCore
import UplinkStore

/// The error when the server was not reached.
struct ServerNotReached: Error {
    let reason: String
}

/// Finds out whether the server can be reached: the network through the performer, the server by asking it.
///
/// After a failure it does not try again for a moment, so that a command with several requests waits only once.
struct ServerReach: Sendable {
    /// How long a request waits for the network.
    static let networkLimit = Duration.seconds(1)
    /// For how long the server counts as unreachable after a failure.
    static let memory = Duration.seconds(1)

    let performer: any NetworkOperationPerforming
    let requirement: NetworkRequirement
    let now: @Sendable () -> ContinuousClock.Instant
    private let failure = Locked<(reason: String, until: ContinuousClock.Instant)?>(nil)

    init(
        _ performer: any NetworkOperationPerforming, requiring requirement: NetworkRequirement,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.performer = performer
        self.requirement = requirement
        self.now = now
    }

    /// Why the server was not reached a moment ago.
    var recentFailure: String? {
        failure.withLock { failure in failure.flatMap { now() < $0.until ? $0.reason : nil } }
    }

    func failed(_ reason: String) { failure.withLock { $0 = (reason, now() + Self.memory) } }

    /// Asks the server for something.
    ///
    /// - Throws: ``ServerNotReached``, or what `body` throws.
    func ask<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        if let recentFailure { throw ServerNotReached(reason: recentFailure) }
        let limit = Self.networkLimit / .seconds(1)
        switch await performer.perform(withinSeconds: limit, requiring: requirement, operation: body) {
        case .success(let value): return value
        case .failure(.notStarted(let error)):
            if error.code == .cancelled { throw CancellationError() }
            failed("\(error)")
            throw ServerNotReached(reason: "\(error)")
        case .failure(.operation(let error)):
            guard let reason = Self.reason(error) else { throw error }
            failed(reason)
            throw ServerNotReached(reason: reason)
        }
    }

    /// Why the server was not reached, if that is what an error means.
    static func reason(_ error: any Error) -> String? {
        switch error {
        // Without what it was that failed: others do something else meanwhile, and say what.
        case let error as FilesError: error.isNetworkFailure ? error.underlying.map { "\($0)" } : nil
        case let error as StoreError where error.code == .networkUnavailable:
            error.underlyingError.map { "\($0)" } ?? error.message
        case let error as StoreError where error.code == .fetchFailed: error.underlyingError.flatMap(reason)
        default: nil
        }
    }
}

extension ServerReach {
    /// Watches the way to a server: to its address if the URL has one; for a name there must be a network, and this
    /// host itself is always reachable. Where netlink is refused, as in some sandboxes, it polls.
    ///
    /// - Throws: ``FilesError`` when the network cannot be watched.
    init(to server: FilesServerURL) throws(FilesError) {
        let host = server.host
        var monitor: LinuxNetworkMonitor
        let requirement: NetworkRequirement
        do {
            monitor = try .polling()
            if LocalName.isLoopback(host) || IPAddress(host)?.isLoopback == true {
                requirement = .predicate("none") { _ in true }
            } else if let address = IPAddress(host) {
                monitor = try monitor.destination(address)
                requirement = .predicate("a way to \(host)") { $0.isSatisfied }
            } else {
                requirement = .localNetwork
            }
        } catch {
            throw FilesError(.invalidServer, "the way to \(host) cannot be watched: \(error); use --online")
        }
        self.init(NetworkOperationPerformer(monitor: monitor, clock: LoopClock.shared), requiring: requirement)
    }
}
#endif
