// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import SystemPackage
import TestSupport
import Testing
import Uplink
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// A program that starts without a network, on the kernel's own word. Real time, because the kernel has no other.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized, .needsNetworkNamespaces)
struct OfflineScenarios {
    @Test func theStoredValueIsShownAtOnceAndRefreshedWhenTheNetworkComes() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending("db")
        let earlier = try await Store.open(path, migrator: Lists.migrator)
        try await earlier.write(["stored"])
        try earlier.database.close()

        try await withTestNetwork(.connected) { network in
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                let monitor = LinuxNetworkMonitor(on: loop)
                let performer = NetworkOperationPerformer(monitor: monitor, clock: LoopClock(on: loop))
                let start = ContinuousClock.now
                let store = try await Store.open(path, migrator: Lists.migrator, performer: performer)
                let fetch = StubFetch(["fresh"])
                let recorder = StoreRecorder(
                    store.stream(Lists.query(), sync: Lists.sync(fetch, networkLimit: .seconds(50))))
                try await eventually { !recorder.elements.isEmpty }
                let shown = ContinuousClock.now - start
                try await eventually { recorder.words == ["value([\"stored\"])", "waiting"] }
                #expect(fetch.calls == 0)

                let back = ContinuousClock.now
                try network.addIPv4()
                try await eventually { recorder.values.last == ["fresh"] }
                let refreshed = ContinuousClock.now - back
                #expect(recorder.words == ["value([\"stored\"])", "waiting", "loading", "value([\"fresh\"])"])
                print("stored value after \(shown), refreshed \(refreshed) after `ip` was started")
                if Effort.isFull {
                    #expect(shown <= Timing.slack(.milliseconds(50)))
                    #expect(refreshed <= Timing.slack(.milliseconds(100)))
                }
                await recorder.stop()
                monitor.stop()
            }
        }
    }

    /// The network goes while an entry rests in the outbox, and comes back.
    @Test func theOutboxIsSentWhenTheNetworkComes() async throws {
        try await withTestNetwork(.connected) { network in
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                let monitor = LinuxNetworkMonitor(on: loop)
                let store = try Store.stubbed(
                    performer: NetworkOperationPerformer(monitor: monitor, clock: LoopClock(on: loop)))
                let outbox = try Outbox(store)
                try await outbox.enqueue(key: "a", payload: .init([1]))
                let handler = StubOutboxHandler()
                let run = Task { try await outbox.run { try await handler($0) } }
                var states = outbox.states.makeAsyncIterator()
                while let state = await states.next(), !state.isWaiting {}
                #expect(handler.entries.isEmpty)
                try network.addIPv4()
                while let state = await states.next(), state.pending > 0 {}
                #expect(handler.entries.count == 1)
                run.cancel()
                _ = await run.result
                monitor.stop()
            }
        }
    }
}
#endif
