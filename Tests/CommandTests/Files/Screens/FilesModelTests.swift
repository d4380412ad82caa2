// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkCommand

/// The model with its real actions over stand-ins for the use cases, on a clock that the test moves.
private struct ModelFixture: Sendable {
    let clock = ManualClock()
    /// Tells whether the network is there.
    let network: AsyncStream<Bool>.Continuation
    let stored = Locked<StoredAnswer?>(nil)
    let loggedOut = Locked(0)
    let model: FilesModel

    /// - Parameter login: What the login throws, where it fails.
    init(_ files: FilesUseCases, login failure: FilesError? = nil, fields: LoginFields = ScreenDriver.fields) {
        let (changes, network) = AsyncStream.makeStream(of: Bool.self)
        self.network = network
        let (stored, loggedOut) = (stored, loggedOut)
        let actions = FilesModel.Actions { _ in
            if let failure { throw failure }
            return FilesModel.Session(
                user: try await files.user(),
                files: FileActions(files, networkChanges: { changes }, lastStored: { stored.withLock { $0 } }))
        } logOut: { _ in
            loggedOut.withLock { $0 += 1 }
        }
        model = FilesModel(FilesMachine(fields), actions: actions, clock: clock)
    }

    func press(_ keys: Key...) async { for key in keys { await model.take(.key(key)) } }

    var screen: String {
        get async { await model.machine.frame.lines.map(\.plain).joined(separator: "\n") }
    }

    func expect(_ text: String) async throws {
        var seen = ""
        try await eventually("`\(text)` instead of\n\(seen)") {
            seen = await screen
            return seen.contains(text)
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct FilesModelTests {
    private let root = itemID(0)
    private let pictures = anItem(1, "Pictures", folder: true)
    private let notes = anItem(2, "notes.txt", type: "text/plain")

    @Test func fromLoginToLogout() async throws {
        var files = FilesUseCases.standIn([root: [pictures, notes], pictures.id: []])
        files.read = StandInReadData { _ in Array("hello\n".utf8) }
        let fixture = ModelFixture(files)
        await fixture.model.begin()
        try await fixture.expect("▸ Pictures/")
        await fixture.press(.enter)
        try await fixture.expect("Nothing is in this folder.")
        await fixture.press(.left)
        try await fixture.expect("▸ Pictures/")
        await fixture.press(.down, .enter)
        try await fixture.expect("hello")
        await fixture.press(.escape, .character("l"))
        try await fixture.expect("✓ Logged out.")
        #expect(fixture.loggedOut.withLock { $0 } == 1)
        await fixture.press(.escape)
        var ends = 0
        for await _ in fixture.model.changes { ends += 1 }  // ends
        #expect(ends <= 1)
        await fixture.model.end()
        try await eventually("nobody sleeps") { fixture.clock.sleepers.isEmpty }
    }

    @Test func aRefusedLoginStaysOnItsScreen() async throws {
        let fixture = ModelFixture(.standIn([:]), login: FilesError(status: 401, while: "log in"))
        await fixture.model.begin()
        try await fixture.expect("✗ wrong user or password")
        try await fixture.expect("enter log in")
        await fixture.model.end()
    }

    @Test func changesAreFollowedByAFreshListing() async throws {
        let items = Locked<[Item]>([notes])
        var files = FilesUseCases.standIn([:])
        files.list = StandInListFolder { _ in Listing(items: items.withLock { $0 }, malformed: 0) }
        files.makeFolder = StandInMakeFolder { name, parent in
            let item = anItem(8, name, folder: true, in: parent)
            items.withLock { $0.insert(item, at: 0) }
            return item
        }
        files.upload = StandInUploadFile { _, name, parent in
            let item = anItem(9, name, in: parent)
            items.withLock { $0.append(item) }
            return item
        }
        files.delete = StandInDeleteItem { id in items.withLock { $0.removeAll { $0.id == id } } }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("cat.png", [1, 2, 3])
        let fixture = ModelFixture(files)
        await fixture.model.begin()
        try await fixture.expect("▸ notes.txt")
        await fixture.press(.character("n"), .paste("New"), .enter)
        try await fixture.expect("▸ New/")
        await fixture.press(.character("u"), .paste("\(directory.path)/cat.png"), .enter)
        try await fixture.expect("▸ cat.png")
        await fixture.press(.character("d"), .character("y"))
        try await fixture.expect("✓ cat.png is deleted.")
        try await eventually { await !fixture.screen.contains("▸ cat.png") }
        await fixture.press(.character("u"), .paste("\(directory.path)"), .enter)
        try await fixture.expect("is a folder; upload its files one by one")
        await fixture.press(.character("u"), .paste("\(directory.path)/none"), .enter)
        try await fixture.expect("there is no file")
        await fixture.model.end()
    }

    @Test func timeGoesByWhileSomethingGoesOnAndItCanBeCancelled() async throws {
        var files = FilesUseCases.standIn([root: [notes]])
        let ended = Locked(false)
        files.delete = StandInDeleteItem { _ in
            defer { ended.withLock { $0 = true } }
            try await Task.sleep(for: .seconds(1000))
        }
        let fixture = ModelFixture(files)
        await fixture.model.begin()
        try await fixture.expect("▸ notes.txt")
        await fixture.press(.character("d"), .character("y"))
        try await fixture.expect(" Deleting notes.txt …")
        let turns = await fixture.model.machine.turns
        try await fixture.clock.advance(by: FilesModel.turnTime, sleepers: 1)
        try await eventually("the spinner turns") { await fixture.model.machine.turns > turns }
        await fixture.press(.escape)
        try await fixture.expect("✓ Cancelled: Deleting notes.txt")
        try await eventually("it has ended") { ended.withLock { $0 } }
        try await eventually("nothing goes on") { await fixture.model.machine.work == nil }
        try await eventually("nobody sleeps") { fixture.clock.sleepers.isEmpty }
        await fixture.model.end()
    }

    @Test func endingLeavesNothingBehind() async throws {
        var files = FilesUseCases.standIn([:])
        files.list = StandInListFolder { _ in
            try await Task.sleep(for: .seconds(1000))
            return Listing(items: [], malformed: 0)
        }
        let fixture = ModelFixture(files)
        await fixture.model.begin()
        try await eventually { await fixture.model.machine.user != nil }
        await fixture.model.end()
        try await eventually("nobody sleeps") { fixture.clock.sleepers.isEmpty }
    }

    @Test func theNetworkThatComesBackRefreshesTheFolder() async throws {
        let items = Locked<[Item]>([notes])
        let sent = Locked(0)
        var files = FilesUseCases.standIn([:])
        files.list = StandInListFolder { _ in Listing(items: items.withLock { $0 }, malformed: 0) }
        files.pending.send = StandInSendPendingChanges { _ in
            sent.withLock { $0 += 1 }
            return SentChanges()
        }
        let fixture = ModelFixture(files)
        await fixture.model.begin()
        try await fixture.expect("▸ notes.txt")
        try await eventually("what waits is sent") { sent.withLock { $0 } == 1 }
        items.withLock { $0.append(pictures) }
        fixture.network.yield(false)
        try await fixture.expect("No network.")
        #expect(await !fixture.screen.contains("Pictures/"))
        fixture.network.yield(true)
        try await fixture.expect("Pictures/")
        try await eventually("what waits is sent again") { sent.withLock { $0 } == 2 }
        await fixture.model.end()
    }

    @Test func whatWaitsIsTriedAgainNowAndThen() async throws {
        let sent = Locked(0)
        let change = PendingChange(
            id: 1, kind: .upload, item: notes, path: RemotePath("/notes.txt"), state: .waiting(problem: "no answer"),
            date: Timestamp(seconds: 0))
        var files = FilesUseCases.standIn([root: []])
        files.pending.follow = StandInPendingChanges { [change] }
        files.pending.send = StandInSendPendingChanges { _ in
            sent.withLock { $0 += 1 }
            return SentChanges(left: [change])
        }
        let fixture = ModelFixture(files)
        await fixture.model.begin()
        try await eventually("it is sent at the login") { sent.withLock { $0 } == 1 }
        try await eventually("nothing goes on") { await fixture.model.machine.pending == [change] }
        try await eventually("the retrier sleeps") { fixture.clock.sleepers.contains { $0.contains("retrier") } }
        try await fixture.clock.advance(by: FilesModel.firstPause)
        try await eventually("it is tried again") { sent.withLock { $0 } == 2 }
        await fixture.model.end()
    }
}
