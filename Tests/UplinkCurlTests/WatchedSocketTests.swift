// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop

@testable import UplinkCurl

/// A socket that is always ready for what it is watched for, so that each turn of the loop reports it again.
private actor Owner: LoopActor {
    nonisolated let eventLoop: EventLoop
    private var ends: [CInt] = [-1, -1]
    private var socket: WatchedSocket?
    private(set) var reports = 0
    private var reaction: (WatchedSocket) -> Void = { _ in }

    init(on loop: EventLoop) { eventLoop = loop }

    func watch(for interest: Readiness, reacting reaction: @escaping @Sendable (WatchedSocket) -> Void) throws {
        #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        if interest.contains(.readable) { send() }
        let listener = DescriptorWatcher.Listener(for: self) { owner, _ in owner.hear() }
        let socket = WatchedSocket(try DescriptorWatcher(of: ends[0], on: eventLoop, listener))
        socket.isConnected = true
        (self.socket, self.reaction) = (socket, reaction)
        socket.watch(for: interest, of: 1)
    }

    /// The other end sends a byte.
    func send() { #expect(write(ends[1], "a", 1) == 1) }

    private func hear() {
        reports += 1
        if let socket { reaction(socket) }
    }

    func change(_ body: @Sendable (WatchedSocket) -> Void) { if let socket { body(socket) } }

    func end() {
        socket?.close()
        for end in ends { close(end) }
    }
}

/// What a watched socket listens for, without libcurl: only some versions of it need all of this.
@Suite(.timeLimit(.minutes(1)))
struct WatchedSocketTests {
    private func withOwner(_ body: (Owner) async throws -> Void) async throws {
        try await withEventLoop { loop in
            let owner = Owner(on: loop)
            try await body(owner)
            await owner.end()
        }
    }

    /// The loop has turned so often.
    private func turns(_ owner: Owner) async throws {
        let clock = LoopClock(on: owner.eventLoop)
        for _ in 0..<5 { try await clock.sleep(for: .milliseconds(1)) }
    }

    @Test func whatIsHeldIsHeardAgainOnlyOnceItGoesOn() async throws {
        try await withOwner { owner in
            try await owner.watch(for: .readable) { $0.holdReading() }
            try await eventually { await owner.reports == 1 }
            try await turns(owner)
            #expect(await owner.reports == 1)
            await owner.change { $0.readOn() }
            try await eventually { await owner.reports == 2 }
            try await turns(owner)
            #expect(await owner.reports == 2)
        }
    }

    @Test func readingIsHeldAndWritingGoesOn() async throws {
        try await withOwner { owner in
            try await owner.watch(for: .both) { $0.holdReading() }
            try await eventually { await owner.reports > 3 }
            await owner.change { #expect($0.isReadingHeld && $0.isForWriting) }
        }
    }

    @Test func anIdleOneIsNotAskedWhetherItCanBeWritten() async throws {
        try await withOwner { owner in
            try await owner.watch(for: .writable) {
                $0.rest(after: 1)
                $0.stop()
            }
            try await eventually { await owner.reports == 1 }
            await owner.change { $0.watchIdle() }
            try await turns(owner)
            #expect(await owner.reports == 1)  // though it can still be written
            await owner.send()
            try await eventually { await owner.reports == 2 }
            try await turns(owner)
            #expect(await owner.reports == 2)
        }
    }

    @Test func afterAnErrorItGoesOnIfItIsStillWanted() async throws {
        try await withOwner { owner in
            try await owner.watch(for: .readable) { $0.stop() }
            try await eventually { await owner.reports == 1 }
            await owner.change { $0.goOn() }
            try await eventually { await owner.reports == 2 }
            await owner.change {
                $0.rest(after: 1)
                $0.goOn()
            }
            try await turns(owner)
            #expect(await owner.reports == 2)
        }
    }
}
