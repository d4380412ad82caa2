// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct NetworkMonitorConformanceTests {
    @Test func theStubMonitorKeepsThePromises() async throws {
        try await NetworkMonitorConformance(
            make: { StubNetworkMonitor(.offline()) }, goOnline: { $0.goOnline() }, goOffline: { $0.goOffline() },
            stop: { $0.stop() }
        ).check()
    }

    /// A monitor with a fault.
    private final class FaultyMonitor: NetworkMonitor {
        enum Fault: CaseIterable {
            case silent, forgetful, deaf, doesNotStop, endsEarly, guesses, remembersAfterStop, isNotMade
        }
        let fault: Fault
        let stub: StubNetworkMonitor
        let isStopped = Locked(false)

        init(_ fault: Fault) async throws {
            if fault == .isNotMade { try await Task.sleep(for: .seconds(600)) }
            self.fault = fault
            stub = StubNetworkMonitor(fault == .silent ? nil : .offline())
            if fault == .endsEarly { stub.stop() }
        }

        var currentPath: NetworkPath? {
            switch fault {
            case .forgetful: nil
            case .guesses where !stub.isObserved: .online()
            case .remembersAfterStop where isStopped.withLock(\.self): .online()
            default: stub.currentPath
            }
        }
        var paths: NetworkPaths { stub.paths }
        var timeToFirstPath: Duration { .zero }

        func turn(online isOnline: Bool) {
            if fault == .silent || fault == .deaf { return }
            if isOnline { stub.goOnline() } else { stub.goOffline() }
        }

        func stop() {
            isStopped.withLock { $0 = true }
            if fault != .doesNotStop { stub.stop() }
        }
    }

    /// All at once, because most are found by waiting in vain.
    @Test func aFaultIsFoundAndNamed() async {
        let promises: [FaultyMonitor.Fault: String] = [
            .silent: "first path", .forgetful: "currentPath", .deaf: "currentPath", .doesNotStop: "stop",
            .endsEarly: "first path", .guesses: "before anybody subscribes", .remembersAfterStop: "stop",
            .isNotMade: "first path",
        ]
        #expect(promises.count == FaultyMonitor.Fault.allCases.count)
        await withTaskGroup { group in
            for (fault, promise) in promises {
                group.addTask {
                    let error = await #expect(throws: NetworkMonitorConformanceError.self, "\(fault)") {
                        try await NetworkMonitorConformance(
                            make: { try await FaultyMonitor(fault) }, goOnline: { $0.turn(online: true) },
                            goOffline: { $0.turn(online: false) }, stop: { $0.stop() },
                            patience: .milliseconds([.forgetful, .endsEarly].contains(fault) ? 10_000 : 4000)
                        ).check()
                    }
                    #expect(error?.promise.contains(promise) == true, "\(String(describing: error))")
                }
            }
        }
    }

    /// Looks at its network while somebody subscribes, as the comment of `NetworkMonitor` has it.
    private final class PollingMonitor: NetworkMonitor {
        private struct State {
            var isOnline = false
            var poll: Task<Void, Never>?
        }
        private let state: Locked<State>
        private let broadcaster: NetworkPathBroadcaster

        init(keepsPath: Bool) {
            let state = Locked(State())
            let demand = AsyncStream.makeStream(of: Void.self)
            let broadcaster = NetworkPathBroadcaster(keepsPath: keepsPath) { demand.continuation.yield() }
            (self.state, self.broadcaster) = (state, broadcaster)
            let poll = Task { [weak broadcaster] in
                for await _ in demand.stream {
                    while broadcaster?.hasSubscribers == true {
                        // With the lock, so that what is sent after a turn was seen after it.
                        state.withLock { broadcaster?.send($0.isOnline ? .online() : .offline()) }
                        await Task.yield()
                    }
                }
            }
            state.withLock { $0.poll = poll }
        }

        deinit { state.withLock { $0.poll }?.cancel() }

        var currentPath: NetworkPath? { broadcaster.currentPath }
        var paths: NetworkPaths { broadcaster.paths }
        func turn(online isOnline: Bool) { state.withLock { $0.isOnline = isOnline } }
    }

    private func conformance(
        _ make: @escaping @Sendable () -> PollingMonitor, patience: Duration = .seconds(10)
    ) -> NetworkMonitorConformance<PollingMonitor> {
        NetworkMonitorConformance(
            make: make, goOnline: { $0.turn(online: true) }, goOffline: { $0.turn(online: false) }, patience: patience)
    }

    @Test func aPollingMonitorOnABroadcasterKeepsThePromises() async throws {
        try await conformance { PollingMonitor(keepsPath: false) }.check()
        // And no operation is started on what it knew before.
        let monitor = PollingMonitor(keepsPath: false)
        monitor.turn(online: true)
        let performer = NetworkOperationPerformer(monitor: monitor)
        #expect(try await performer.perform(within: .seconds(10)) { "online" } == "online")
        try await eventually { monitor.currentPath == nil }  // the performer's subscription has ended
        monitor.turn(online: false)
        await #expect(throws: NetworkOperationError.self) { try await performer.perform(within: .zero) {} }
    }

    @Test func aPathThatIsOutOfDateIsFound() async throws {
        let error = await #expect(throws: NetworkMonitorConformanceError.self) {
            try await conformance({ PollingMonitor(keepsPath: true) }).checkNoPathIsOutOfDate()
        }
        #expect(error?.found.contains("currentPath is still satisfied") == true, "\(String(describing: error))")
    }

    /// Knows nothing while nobody subscribes, does not notice then that it goes offline, and tells the next subscriber
    /// what it told the last one.
    private final class RememberingMonitor: NetworkMonitor {
        private let stub = StubNetworkMonitor(.offline())
        var currentPath: NetworkPath? { stub.isObserved ? stub.currentPath : nil }
        var paths: NetworkPaths { stub.paths }
        func goOnline() { stub.goOnline() }
        func goOffline() { if stub.isObserved { stub.goOffline() } }
    }

    @Test func aFirstPathThatIsOutOfDateIsFound() async throws {
        let error = await #expect(throws: NetworkMonitorConformanceError.self) {
            try await NetworkMonitorConformance(
                make: { RememberingMonitor() }, goOnline: { $0.goOnline() }, goOffline: { $0.goOffline() }
            ).checkNoPathIsOutOfDate()
        }
        #expect(error?.found.contains("the first path was satisfied") == true, "\(String(describing: error))")
    }

    @Test func aStreamThatFailsIsNamedByThePromise() async throws {
        let error = await #expect(throws: NetworkMonitorConformanceError.self) {
            try await NetworkMonitorConformance(
                make: { StubNetworkMonitor(.offline()) },
                goOnline: { $0.fail(NetworkMonitorError(.failed, message: "it is broken")) },
                goOffline: { $0.goOffline() }
            ).check()
        }
        #expect(error?.promise.contains("currentPath") == true)
        #expect(error?.found.contains("it is broken") == true)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func withoutPatienceNothingIsChecked(_ patience: Duration) async throws {
        let check = conformance({ PollingMonitor(keepsPath: false) }, patience: patience)
        let error = await #expect(throws: NetworkOperationError.self) { try await check.check() }
        #expect(error?.code == .invalidArgument)
    }
}
