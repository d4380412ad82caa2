// SPDX-License-Identifier: Apache-2.0
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
        enum Fault: CaseIterable { case silent, forgetful, deaf, doesNotStop, endsEarly }
        let fault: Fault
        let stub: StubNetworkMonitor

        init(_ fault: Fault) {
            self.fault = fault
            stub = StubNetworkMonitor(fault == .silent ? nil : .offline())
            if fault == .endsEarly { stub.stop() }
        }

        var currentPath: NetworkPath? { fault == .forgetful ? nil : stub.currentPath }
        var paths: NetworkPaths { stub.paths }
        var timeToFirstPath: Duration { .zero }

        func turn(online isOnline: Bool) {
            if fault == .silent || fault == .deaf { return }
            if isOnline { stub.goOnline() } else { stub.goOffline() }
        }

        func stop() { if fault != .doesNotStop { stub.stop() } }
    }

    @Test(
        arguments: [
            (.silent, "first path"), (.forgetful, "currentPath"), (.deaf, "currentPath"),
            (.doesNotStop, "stop"), (.endsEarly, "first path"),
        ] as [(FaultyMonitor.Fault, String)])
    private func aFaultIsFoundAndNamed(_ fault: FaultyMonitor.Fault, _ promise: String) async throws {
        let error = await #expect(throws: NetworkMonitorConformanceError.self) {
            try await NetworkMonitorConformance(
                make: { FaultyMonitor(fault) }, goOnline: { $0.turn(online: true) },
                goOffline: { $0.turn(online: false) }, stop: { $0.stop() },
                patience: .milliseconds(fault == .silent || fault == .deaf || fault == .doesNotStop ? 4000 : 10_000)
            ).check()
        }
        #expect(error?.promise.contains(promise) == true, "\(String(describing: error))")
    }
}
