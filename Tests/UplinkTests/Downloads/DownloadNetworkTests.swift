// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@testable import Uplink

/// The network goes in the middle of a transfer, in namespaces. The server holds the rest back until then.
@Suite(.timeLimit(.minutes(2)), .undisturbed, .serialized, .needsNetworkNamespaces)
struct DownloadNetworkTests {
    private static let content = DownloadScene.content(300_000)

    /// Waits until so many bytes are there, which are all that the server gives.
    private func half(_ download: Download) async throws {
        try await eventually(within: .seconds(30), "\(download.currentProgress)") {
            download.currentProgress.receivedBytes == 100_000
        }
    }

    private func expectWhole(_ scene: DownloadNetworkScene, _ download: Download) async throws {
        let file = try await download.value
        #expect(scene.directory.holds("f", Self.content))
        #expect(scene.directory.names == ["f"])
        #expect(file.resumptions >= 1)
        #expect(file.restarts == 0)
        #expect(file.transferredBytes == 300_000)
    }

    @Test func aCableThatIsOutForAWhileIsOutlived() async throws {
        try await DownloadNetworkScene.with(Self.content, [.hold(after: 100_000)]) { scene in
            let download = scene.start()
            try await half(download)
            try scene.network.cableOut()
            try await eventually { download.currentProgress.phase == .waitingForNetwork }
            #expect(scene.server.requests.count == 1)
            try scene.network.cableIn()
            try await expectWhole(scene, download)
        }
    }

    @Test func anAddressThatIsReplacedEndsTheConnectionAtOnce() async throws {
        // No other timeout could have found it: the server's silence alone is allowed for an hour.
        let timeouts = HTTPTimeouts(firstByte: .seconds(3600), stall: .seconds(3600))
        try await DownloadNetworkScene.with(
            Self.content, [.hold(after: 100_000)], timeouts: timeouts,
            { ($0.keepAlive, $0.unacknowledgedTimeout) = (nil, nil) }
        ) { scene in
            let download = scene.start()
            try await half(download)
            try scene.network.changeAddress()
            try await expectWhole(scene, download)
        }
    }

    @Test func aDefaultRouteThatMovesTakesTheDownloadWithIt() async throws {
        try await DownloadNetworkScene.with(
            Self.content, [.hold(after: 100_000)], timeouts: .init(connect: .seconds(2), stall: .seconds(2))
        ) { scene in
            try scene.network.connectSecondUplink()
            let download = scene.start()
            try await half(download)
            try scene.network.device.ip("route replace default via 198.51.100.1 dev eth1")
            try scene.network.cableOut()
            try await expectWhole(scene, download)
        }
    }

    @Test func aPeerThatFallsSilentIsFoundByTCP() async throws {
        let timeouts = HTTPTimeouts(connect: .seconds(1), firstByte: .seconds(3600), stall: .seconds(3600))
        try await DownloadNetworkScene.with(
            Self.content, [.hold(after: 100_000)], timeouts: timeouts,
            { ($0.keepAlive, $0.unacknowledgedTimeout) = (.seconds(1), .seconds(1)) }
        ) { scene in
            let download = scene.start()
            try await half(download)
            // The cable is in and the addresses are there, but nothing comes back.
            try scene.network.router.ip("route add blackhole 192.0.2.10/32")
            try await eventually(within: .seconds(30), "the connection is given up") {
                download.currentProgress.phase != .receiving
            }
            try scene.network.router.ip("route del blackhole 192.0.2.10/32")
            try await expectWhole(scene, download)
        }
    }

    @Test func theDeadlineHoldsWhileTheCableIsOut() async throws {
        try await DownloadNetworkScene.with(Self.content, [.hold(after: 100_000)]) { scene in
            let clock = ManualClock()
            let download = scene.start(within: .seconds(60)) { $0.clock = clock }
            try await half(download)
            try scene.network.cableOut()
            try await eventually { download.currentProgress.phase == .waitingForNetwork }
            try await clock.advance(by: .seconds(60))
            let error = await #expect(throws: DownloadError.self) { try await download.value }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.keptBytes == 100_000)
            #expect(error?.message.contains("the link is down") == true || error?.message.contains("away") == true)
        }
    }

    /// With an address that goes and comes, because the far end of a cable needs a moment of its own before it answers.
    @Test(.enabled(if: DownloadWorkload.isFull))
    func theRestIsAskedForWithin50MillisecondsOfThePathsReturn() async throws {
        for _ in 0..<20 {
            try await DownloadNetworkScene.with(Self.content, [.hold(after: 100_000)]) { scene in
                let download = scene.start()
                try await half(download)
                let (lost, back) = (Locked<ContinuousClock.Instant?>(nil), Locked<ContinuousClock.Instant?>(nil))
                let watch = Task { [monitor = scene.monitor] in
                    for try await path in monitor.paths {
                        let told = ContinuousClock.now
                        if !path.isSatisfied { lost.withLock { $0 = $0 ?? told } }
                        if path.isSatisfied, lost.withLock({ $0 != nil }) { back.withLock { $0 = $0 ?? told } }
                    }
                }
                defer { watch.cancel() }
                let gone = ContinuousClock.now
                try scene.network.goOffline()
                try await eventually { download.currentProgress.phase == .waitingForNetwork }
                #expect(ContinuousClock.now - gone < .milliseconds(100))
                try scene.network.goOnline()
                try await eventually { scene.server.requests.count >= 2 }
                let asked = ContinuousClock.now
                try await expectWhole(scene, download)
                let told = try #require(back.withLock { $0 })
                print("the server was asked \(asked - told) after the path's return")
                #expect(asked - told < .milliseconds(50))
            }
        }
    }
}
