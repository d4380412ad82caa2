// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkHTTP

/// Cancelling, again and again, wherever a transfer may be: each ends once, and nothing is left.
@Suite(.timeLimit(.minutes(2)), .undisturbed, .serialized)
struct CancellationStageTests {
    /// Where a transfer is cancelled. At the gate of a host's name it is alone here; who leads and who follows there is
    /// cancelled in ``CancellationLookupTests``.
    enum Stage: String, CaseIterable {
        case beforeSubmitting, queued, gated, connecting, negotiatingTLS, awaitingHead, afterHead, inBody, paused
        case finishing, afterwards
    }

    /// Ten thousand in all with `UPLINK_FULL`.
    private let rounds = getenv("UPLINK_FULL") == nil ? 40 : 10_000 / Stage.allCases.count + 1

    @Test(arguments: Stage.allCases) func nothingIsLeft(of stage: Stage) async throws {
        let blackhole = try Blackhole()
        defer { blackhole.stop() }
        try await withServer(Self.script(stage)) { server in
            var configuration = CurlTransport.Configuration()
            var limits = HTTPLimits()
            limits.bufferedBytes = 256 * 1024
            if stage == .queued { configuration.maximumConcurrentTransfers = 1 }
            try await withClient(transport: configuration) { client, transport in
                let url = Self.url(stage, server, blackhole)
                let blocker = Task {
                    if stage == .queued { _ = try await client.get(server.url()).body.discard() }
                }
                if stage == .queued { try await eventually { !server.heads.isEmpty } }
                let standing = stage == .queued ? 1 : 0
                var before = Census()
                for round in 0..<rounds {
                    let recorder = Recorder()
                    let task = Task { [limits] in
                        if stage == .beforeSubmitting { while !Task.isCancelled { await Task.yield() } }
                        let response = try await transport.get(url, recorder, limits: limits)
                        if stage == .paused { while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) } }
                        return try await response.body.discard()
                    }
                    if Self.mayBeOver(stage) {
                        for _ in 0..<(round % 20) { await Task.yield() }
                    } else {
                        try await eventually(
                            "\(stage) in round \(round): \(recorder.words), \(transport.bufferedBytes) bytes"
                        ) {
                            await Self.isReached(stage, recorder, server, transport, round)
                        }
                    }
                    if stage == .afterwards { _ = try await task.value }
                    let start = ContinuousClock.now
                    task.cancel()
                    switch await task.result {
                    case .success(let count): #expect(Self.mayBeOver(stage) && count == 2)
                    case .failure(let error): #expect(error is CancellationError, "\(error)")
                    }
                    #expect(ContinuousClock.now - start < .seconds(5))
                    // The machine may be slow; that each ends soon is measured in `CancellationTests`.
                    try await eventually { await transport.census().transfers == standing }
                    if round == 9 { before = Census() }
                }
                blocker.cancel()
                _ = await blocker.result
                try await eventually("no descriptor is left") { Census().descriptors <= before.descriptors + 8 }
                #expect(Census().threads <= before.threads + 16)
            }
        }
    }

    private static func script(_ stage: Stage) -> [RawServer.Step] {
        // Great, because megabytes may pass between the cancellation and the engine's hearing of it.
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
        return switch stage {
        case .beforeSubmitting, .queued, .gated, .connecting, .awaitingHead: [.readHead, .waitForClose]
        case .negotiatingTLS: [.waitForClose]
        case .afterHead: [.readHead, .send(head), .waitForClose]
        case .inBody: [.readHead, .send(head + "ab"), .waitForClose]
        case .paused: [.readHead, .send(head), .fill(1_000_000_000)]
        case .finishing, .afterwards: [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop]
        }
    }

    private static func url(_ stage: Stage, _ server: RawServer, _ blackhole: Blackhole) -> String {
        switch stage {
        case .connecting: blackhole.url()
        case .negotiatingTLS: "https://127.0.0.1:\(server.port)/"
        case .gated: "http://localhost:\(server.port)/"
        case .beforeSubmitting, .queued, .awaitingHead, .afterHead, .inBody, .paused, .finishing, .afterwards:
            server.url()
        }
    }

    /// Whether the transfer may have ended before it is cancelled.
    private static func mayBeOver(_ stage: Stage) -> Bool { stage == .finishing || stage == .afterwards }

    private static func isReached(
        _ stage: Stage, _ recorder: Recorder, _ server: RawServer, _ transport: CurlTransport, _ round: Int
    ) async -> Bool {
        switch stage {
        case .beforeSubmitting: true
        case .queued: recorder.words == ["queued"]
        case .gated, .connecting: recorder.words.contains("started")
        case .negotiatingTLS: server.connections.count > round
        case .awaitingHead: server.heads.count > round
        case .afterHead, .inBody: recorder.words.contains("head 200")
        case .paused: transport.bufferedBytes >= 200_000
        case .finishing, .afterwards: true
        }
    }
}
