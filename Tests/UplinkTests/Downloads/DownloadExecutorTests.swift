// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import Uplink
import UplinkCore
import UplinkEventLoop
import UplinkHTTP
import UplinkTesting

/// Where a download works.
@Suite(.timeLimit(.minutes(1)))
struct DownloadExecutorTests {
    /// Notes for each request whether it is made on the loop.
    private struct Noting: HTTPMiddleware {
        let loop: EventLoop
        let notes: Locked<[Bool]>

        func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
            notes.withLock { $0.append(loop.isCurrent) }
            return try await next(request)
        }
    }

    /// Off Swift's default pool, which needs descriptors.
    @Test func itWorksWhereItsCallerPrefersTo() async throws {
        try await DownloadScene.with { scene in
            try await withEventLoop { loop in
                let notes = Locked<[Bool]>([])
                var configuration = HTTPClient.Configuration()
                configuration.middlewares = [Noting(loop: loop, notes: notes)]
                let client = HTTPClient(transport: scene.transport, configuration: configuration)
                func download() async throws {
                    var options = scene.options
                    options.replacesExisting = true
                    for _ in 0..<2 { scene.transport.answer(scene.url, scene.whole) }
                    _ = try await client.download(
                        scene.url, to: scene.target, within: .seconds(60), options: options)
                    let item = DownloadItem(scene.url, to: scene.target, options: options)
                    for result in await client.downloadAll([item], within: .seconds(60)) { _ = try result.get() }
                }
                try await withTaskExecutorPreference(loop) { try await download() }
                #expect(notes.withLock { $0 } == [true, true])
                try await download()
                #expect(notes.withLock { $0 } == [true, true, false, false])
            }
        }
    }
}
