// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import Testing
import UplinkHTTP

@testable import Uplink

/// The one outcome, and the order of bytes on their way to the disk.
@Suite(.timeLimit(.minutes(1)))
struct DownloadLifeTests {
    private let file = DownloadedFile(
        path: "f", byteCount: 0, transferredBytes: 0, url: "", head: nil, checksum: nil, attempts: 1, resumptions: 0,
        restarts: 0)

    @Test func whoCancelsAfterTheNamingGetsTheFile() {
        var life = DownloadLife()
        #expect(life.name() == true)
        #expect(life.end(.cancelled) == false)
        #expect(life.abandoned(CancellationError()) == false)
        #expect(life.ended(.success(file)) == true)
        #expect((try? life.outcome?.get()) != nil)
        #expect(life.ended(.failure(CancellationError())) == false)
        #expect((try? life.outcome?.get()) != nil)
    }

    @Test func whoCancelsBeforeGetsNone() {
        var life = DownloadLife()
        #expect(life.end(.deadline) == true)
        #expect(life.end(.cancelled) == false)
        #expect(life.cause == .deadline)
        #expect(life.name() == false)
        #expect(life.ended(.failure(CancellationError())) == true)
        #expect(life.cause == nil)
    }

    @Test func workThatHangsIsAbandonedAndItsOwnEndComesTooLate() {
        var life = DownloadLife()
        #expect(life.abandoned(CancellationError()) == false)
        _ = life.end(.deadline)
        #expect(life.abandoned(CancellationError()) == true)
        #expect(life.name() == false)
        #expect(life.ended(.success(file)) == false)
    }
}
