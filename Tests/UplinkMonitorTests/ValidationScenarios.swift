// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

@testable import UplinkMonitor

/// Validation of a real path, with probes that are closures: when they run, and what becomes of what they find.
@Suite(.serialized, .timeLimit(.minutes(2)), .needsNetworkNamespaces)
struct ValidationScenarios {
    /// What the probes are asked and what they answer.
    private final class Script: Sendable {
        private struct State {
            var asked: [IPAddress.Family] = []
            var answers: [IPAddress.Family: PathValidation] = [:]
        }
        private let state = Locked(State())

        var asked: [IPAddress.Family] { state.withLock { $0.asked } }
        func answer(_ family: IPAddress.Family, _ answer: PathValidation?) {
            state.withLock { $0.answers[family] = answer }
        }

        /// Without an answer it hangs until it is cancelled.
        var probe: ValidationProbe {
            ValidationProbe { [self] family, _ in
                let answer = state.withLock { state in
                    state.asked.append(family)
                    return state.answers[family]
                }
                if let answer { return answer }
                try? await Task.sleep(for: .seconds(3600))
                return .failed("cancelled")
            }
        }
    }

    private func withMonitor(
        _ script: Script, _ body: nonisolated(nonsending) (Scenario) async throws -> Void
    ) async throws {
        let validator = PathValidator(script.probe, firstPause: .milliseconds(100))
        try await withScenario(from: .ipv4, configuration: try .prompt, validator: validator, body)
    }

    @Test func thePathIsTheFirstAndTheVerdictFollows() async throws {
        let script = Script()
        try await withMonitor(script) { scenario in
            let first = try #require(await scenario.observer.latest)
            #expect(first.isSatisfied)  // which never waits for a probe
            #expect(first.ipv4.validation == .probing)
            #expect(first.ipv6.validation == .disabled)  // there is no way
            try await eventually("it is asked, and hangs") { script.asked == [.ipv4] }
            script.answer(.ipv6, .captivePortal(url: "http://portal.example/"))
            script.answer(.ipv4, .validated(at: .now))
            try scenario.network.addIPv6()
            let second = try await scenario.reach { $0.ipv6.validation.state == .captivePortal }
            #expect(second.isSatisfied)
            #expect(second.ipv6.validation.captivePortalURL == "http://portal.example/")
            #expect(second.ipv4.validation == .probing)  // it hangs since before
            try scenario.host.ip("route replace default via 192.0.2.254")
            let third = try await scenario.reach { $0.ipv4.validation.state == .validated }
            #expect(third.ipv4.gateway == IPAddress("192.0.2.254"))
            #expect(script.asked.prefix(2) == [.ipv4, .ipv6] && script.asked.count { $0 == .ipv4 } == 2)
            #expect(await scenario.monitor.statistics.validations >= 3)
        }
    }

    @Test func failuresAreTriedAgainUntilOneSucceeds() async throws {
        let script = Script()
        script.answer(.ipv4, .failed("no answer"))
        try await withMonitor(script) { scenario in
            let failed = try await scenario.reach { $0.ipv4.validation.state == .failed }
            #expect(failed.isSatisfied)
            try await eventually("it is tried again") { script.asked.count >= 2 }
            script.answer(.ipv4, .validated(at: .now))
            try await scenario.reach { $0.ipv4.validation.state == .validated }
        }
    }

    @Test func aSleepAndAReportAreReasonsToValidateAnew() async throws {
        let script = Script()
        script.answer(.ipv4, .validated(at: .now))
        try await withMonitor(script) { scenario in
            try await scenario.reach { $0.ipv4.validation.state == .validated }  // perhaps the first path was
            var clocks = ClockReading.now
            clocks.boottime += .seconds(60)
            await scenario.monitor.watcher.compareClocks(clocks)
            try await scenario.reach { $0.lastResume != nil && $0.ipv4.validation.state == .validated }
            #expect(script.asked.count == 2)
            script.answer(.ipv4, .failed("no answer"))
            scenario.monitor.reportBadNetwork()
            try await scenario.reach { $0.ipv4.validation.state == .failed }
        }
    }

    @Test func aPauseCancelsWhatRuns() async throws {
        let ended = Locked(false)
        let probe = ValidationProbe { _, _ in
            try? await Task.sleep(for: .seconds(3600))
            ended.withLock { $0 = Task.isCancelled }
            return .failed("cancelled")
        }
        try await withTestNetwork { network in
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                let monitor = LinuxNetworkMonitor(on: loop, validator: PathValidator(probe))
                for try await path in monitor.paths where path.ipv4.validation == .probing { break }
                try await eventually("the probe is cancelled") { ended.withLock { $0 } }
            }
        }
    }
}
