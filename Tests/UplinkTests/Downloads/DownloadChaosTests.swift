// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@testable import Uplink

/// Random schedules of all faults at once, in namespaces: cables, addresses, servers that stop, lie, fall silent and
/// change the file. However it goes: never a wrong byte, never an outcome long after the deadline.
///
/// `UPLINK_SEED` repeats a run, `UPLINK_FULL` makes it 200 schedules.
@Suite(
    .timeLimit(.minutes(DownloadWorkload.isFull ? 60 : 3)), .undisturbed, .serialized, .needsNetworkNamespaces)
struct DownloadChaosTests {
    /// What happens in one run, chosen beforehand.
    struct Schedule: CustomStringConvertible {
        enum Event: String, CaseIterable { case cable, address, lease, server, file }

        let seed: UInt64
        var conduct: [FileServer.Conduct] = []
        var events: [(after: Duration, Event)] = []
        /// The other one is long enough for everything.
        let isShort: Bool
        let deadline: Duration

        init(seed: UInt64) {
            self.seed = seed
            var numbers = SeededGenerator(seed: seed)
            for _ in 0..<Int.random(in: 2...6, using: &numbers) { conduct.append(Self.conduct(&numbers)) }
            for _ in 0..<Int.random(in: 1...5, using: &numbers) {
                let event = Event.allCases.randomElement(using: &numbers) ?? .cable
                events.append((.milliseconds(Int.random(in: 1...120, using: &numbers)), event))
            }
            isShort = Int.random(in: 0..<4, using: &numbers) == 0
            deadline = isShort ? .milliseconds(Int.random(in: 20...1500, using: &numbers)) : .seconds(90)
        }

        private static func conduct(_ numbers: inout SeededGenerator) -> FileServer.Conduct {
            let count = Int.random(in: 0...400_000, using: &numbers)
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0, 1: return .cut(after: count)
            case 2: return .cut(after: count, reset: true)
            case 3: return .hold(after: count)
            case 4: return .slow(piece: 20_000, pause: .milliseconds(5))
            case 5: return .ignoringRange
            case 6: return .lying { $0.replacing("Content-Range: bytes ", with: "Content-Range: bytes 1") }
            case 7: return .lying { $0.replacing("ETag: ", with: "ETag: W/") }
            case 8: return .raw("HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            // To the first request nobody could tell that from an empty file.
            default:
                let nothing = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                return .lying { $0.contains(" 206 ") ? nothing : $0 }
            }
        }

        var description: String {
            "UPLINK_SEED=\(seed): \(conduct.count) requests, \(events.map(\.1.rawValue)), within \(deadline)"
        }
    }

    @Test func whateverHappensTheFileIsWholeOrAbsent() async throws {
        let first = DownloadWorkload.seed
        print("downloads in chaos, UPLINK_SEED=\(first)")
        var outcomes: [String: Int] = [:]
        for number in 0..<(DownloadWorkload.isFull ? 200 : 3) {
            let schedule = Schedule(seed: first &+ UInt64(number))
            let outcome = try await run(schedule)
            outcomes[outcome, default: 0] += 1
        }
        print("outcomes: \(outcomes)")
    }

    private func run(_ schedule: Schedule) async throws -> String {
        let stall = Timing.slack(.milliseconds(400))
        let timeouts = HTTPTimeouts(connect: .seconds(2), firstByte: .seconds(2), stall: min(stall, .seconds(2)))
        let content = DownloadScene.content(400_000, version: schedule.seed)
        var outcome = ""
        try await DownloadNetworkScene.with(content, schedule.conduct, timeouts: timeouts) { scene in
            var versions = [content]
            let begin = ContinuousClock.now
            let download = scene.start(within: schedule.deadline) { $0.maximumRestarts = 1000 }
            for (pause, event) in schedule.events {
                try await Task.sleep(for: pause)
                try await cause(event, scene, &versions, seed: schedule.seed)
            }
            do {
                _ = try await download.value
                outcome = "whole"
            } catch let error as DownloadError {
                outcome = "\(error.code)"
                #expect(schedule.isShort && error.code == .deadlineExceeded, "\(schedule): \(error)")
                #expect(!scene.directory.names.contains("f"), "\(schedule)")
            }
            #expect(ContinuousClock.now - begin < schedule.deadline + .seconds(20), "\(schedule)")
            if outcome != "whole" { _ = try await scene.start { $0.maximumRestarts = 1000 }.value }
            let bytes = try scene.directory.read("f")
            let isOne = versions.contains(bytes)
            #expect(isOne, "\(schedule): \(bytes.count) bytes, none of \(versions.count) versions")
            #expect(scene.directory.names == ["f"], "\(schedule)")
        }
        return outcome
    }

    /// Each leaves the network and the server as they should be.
    private func cause(
        _ event: Schedule.Event, _ scene: DownloadNetworkScene, _ versions: inout [[UInt8]], seed: UInt64
    ) async throws {
        switch event {
        case .cable:
            try scene.network.cableOut()
            try await Task.sleep(for: .milliseconds(60))
            try scene.network.cableIn()
        case .address: try scene.network.changeAddress(to: "192.0.2.\(20 + versions.count)")
        case .lease:
            try scene.network.goOffline()
            try await Task.sleep(for: .milliseconds(30))
            try scene.network.goOnline()
        case .server:
            scene.server.stop()
            try await Task.sleep(for: .milliseconds(50))
            try await scene.startServer()
        case .file:
            versions.append(
                DownloadScene.content(400_000 - 1000 * versions.count, version: seed &+ UInt64(versions.count)))
            scene.server.change(to: versions[versions.count - 1], tag: "\"v\(versions.count)\"")
        }
    }
}
