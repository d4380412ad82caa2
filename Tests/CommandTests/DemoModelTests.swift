// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@testable import UplinkCommand

/// The demo's model with its real actions, on a network, a server and a clock that the test moves.
private struct DemoFixture: Sendable {
    static let url = "https://example.org/picture.png"
    let monitor: StubNetworkMonitor
    let transport = StubTransport()
    let clock = ManualClock()
    let model: DemoModel

    init(_ path: NetworkPath?, answer: StubTransport.Answer = .response(pieces: [DemoPicture.file])) throws {
        monitor = StubNetworkMonitor(path)
        transport.answer(Self.url, answer)
        model = DemoModel(
            actions: .init(
                url: try URLArgument.parse(Self.url), monitor: monitor,
                performer: NetworkOperationPerformer(monitor: monitor, clock: clock),
                client: HTTPClient(transport: transport)), clock: clock)
    }

    /// A server that takes its time.
    init(_ path: NetworkPath?, answersAfter delay: Duration) throws {
        try self.init(path)
        transport.answer(Self.url, .response(pieces: [DemoPicture.file]).after(delay, on: clock))
    }

    func start() -> Task<Void, Never> { Task(name: "demo") { await model.run() } }

    func expect(_ screen: DemoScreen) async throws {
        var seen = await model.screen
        try await eventually("\("\(screen)".prefix(200)) instead of \("\(seen)".prefix(200))") {
            seen = await model.screen
            return seen == screen
        }
    }

    func picture(after duration: Duration) throws -> DemoScreen {
        .picture(DemoResult(picture: try Picture(file: DemoPicture.file), duration: duration))
    }

    func expectNetwork(_ isThere: Bool) async throws {
        try await eventually("the model hears of the network") { await model.isNetworkThere == isThere }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct DemoModelTests {
    private let loading = DemoScreen.loading(saysNoNetwork: false)
    private let loadingWithoutNetwork = DemoScreen.loading(saysNoNetwork: true)

    @Test func theLoadingScreenHasASpinnerAndNothingElse() async throws {
        let fixture = try DemoFixture(.offline())
        let run = fixture.start()
        var screens = fixture.model.screens.makeAsyncIterator()
        #expect(await screens.next() == loading)
        #expect(loading.text(source: "", frame: 0).plain == "⠋ Loading the picture …")
        #expect(loading.text(source: "", frame: 11).plain == "⠙ Loading the picture …")
        run.cancel()
        await run.value
    }

    @Test func theAdditionalTextComesAfterHalfASecondWithoutANetworkAndNotBefore() async throws {
        let fixture = try DemoFixture(.offline())
        let run = fixture.start()
        try await fixture.clock.advance(by: .milliseconds(499), sleepers: 2)
        #expect(await fixture.model.screen == loading)
        try await fixture.clock.advance(by: .milliseconds(1), sleepers: 2)
        try await fixture.expect(loadingWithoutNetwork)
        #expect(loadingWithoutNetwork.text(source: "", frame: 0).plain.contains("No network"))
        run.cancel()
        await run.value
    }

    @Test func theTextGoesWhenTheNetworkComesAndThePictureIsShown() async throws {
        let fixture = try DemoFixture(.offline(), answersAfter: .milliseconds(200))
        let run = fixture.start()
        try await fixture.clock.advance(by: .milliseconds(500), sleepers: 2)
        try await fixture.expect(loadingWithoutNetwork)
        try await fixture.clock.advance(by: .milliseconds(500))
        fixture.monitor.goOnline()
        try await fixture.expect(loading)
        try await fixture.clock.advance(by: .milliseconds(200), sleepers: 2)
        await run.value
        try await fixture.expect(fixture.picture(after: .milliseconds(1200)))
        try fixture.clock.checkNobodySleeps()
    }

    @Test func shortAbsencesDoNotAddUp() async throws {
        let fixture = try DemoFixture(.offline(), answer: .silence)
        let run = fixture.start()
        try await fixture.clock.advance(by: .milliseconds(400), sleepers: 2)
        fixture.monitor.goOnline()
        try await fixture.expectNetwork(true)
        try await fixture.clock.advance(by: .milliseconds(50))
        fixture.monitor.goOffline()
        try await fixture.expectNetwork(false)
        // Three sleep: the time limit, the timer of this absence, and that of the first one, without effect.
        try await fixture.clock.advance(by: .milliseconds(499), sleepers: 3)
        #expect(await fixture.model.screen == loading)
        try await fixture.clock.advance(by: .milliseconds(1))
        try await fixture.expect(loadingWithoutNetwork)
        run.cancel()
        await run.value
    }

    @Test func aPictureAfterOneAndAHalfSecondsIsShownThenWithoutPadding() async throws {
        let fixture = try DemoFixture(.online(), answersAfter: .milliseconds(1500))
        let run = fixture.start()
        try await fixture.expectNetwork(true)
        try await fixture.clock.advance(by: .milliseconds(1499), sleepers: 3)
        #expect(await fixture.model.screen == loading)
        try await fixture.clock.advance(by: .milliseconds(1))
        await run.value
        try await fixture.expect(fixture.picture(after: .milliseconds(1500)))
    }

    @Test func offlineForGoodIsAnErrorAfterTwoSecondsAndNotBefore() async throws {
        let fixture = try DemoFixture(.offline())
        let run = fixture.start()
        try await fixture.clock.advance(by: .milliseconds(1999), sleepers: 2)
        try await fixture.expect(loadingWithoutNetwork)
        try await fixture.clock.advance(by: .milliseconds(1))
        await run.value
        guard case .failure(.noNetwork(let missing)) = await fixture.model.screen else {
            Issue.record("\(await fixture.model.screen)")
            return
        }
        #expect(missing.contains("no route to the internet"))
        #expect(fixture.transport.requests.isEmpty)
        fixture.monitor.goOnline()
        #expect(await fixture.model.screen.isFailure)
        try fixture.clock.checkNobodySleeps()
    }

    @Test func aNetworkThatIsThereWithoutAPictureInTimeIsTooSlow() async throws {
        let fixture = try DemoFixture(.offline(), answersAfter: .milliseconds(1500))
        let run = fixture.start()
        try await fixture.clock.advance(by: .seconds(1), sleepers: 2)
        fixture.monitor.goOnline()
        try await fixture.expect(loading)
        try await fixture.clock.advance(by: .seconds(1), sleepers: 2)
        await run.value
        #expect(await fixture.model.screen == .failure(.tooSlow))
    }

    @Test(arguments: [
        (StubTransport.Answer.text("gone", status: .notFound), DemoFailure.status(404)),
        (.text("oh", status: .internalServerError), .status(500)),
        (.text("<html>"), .picture(.notAPicture)),
        (.response(), .picture(.empty)),
        (.response(pieces: [Array(DemoPicture.file.dropLast(20))]), .picture(.truncated)),
        (
            .response(pieces: [Files.png(width: 50000, height: 50000)]),
            .picture(.tooManyPixels(width: 50000, height: 50000))
        ),
        (.response(headers: [.contentLength: "\(PictureInfo.maximumBytes + 1)"]), .picture(.tooManyBytes)),
    ])
    func whatIsNoPictureIsAnErrorWithItsCause(answer: StubTransport.Answer, failure: DemoFailure) async throws {
        let fixture = try DemoFixture(.online(), answer: answer)
        await fixture.model.run()
        #expect(await fixture.model.screen == .failure(failure))
        let text = await fixture.model.screen.text(source: "here", frame: 0).plain
        #expect(text.contains(failure.headline) && text.contains(failure.reason) && text.contains("here"))
    }

    @Test func aConnectionThatBreaksIsAnErrorWithItsCause() async throws {
        let broken = HTTPClientError(.connectionReset, phase: .body, message: "the server hung up")
        let fixture = try DemoFixture(.online(), answer: .broken(broken, after: [Array(DemoPicture.file.prefix(100))]))
        await fixture.model.run()
        guard case .failure(.other(let words)) = await fixture.model.screen else {
            Issue.record("\(await fixture.model.screen)")
            return
        }
        #expect(words.contains("the server hung up"))
    }

    @Test func tryingAgainStartsAfreshAndEarlierTimersHaveNoEffect() async throws {
        let fixture = try DemoFixture(.offline())
        let first = fixture.start()
        try await fixture.clock.advance(by: .seconds(2), sleepers: 2)
        await first.value
        #expect(await fixture.model.screen.isFailure)
        #expect(await fixture.model.screen.keys.plain.contains("try again"))

        let second = fixture.start()
        try await fixture.expect(loading)
        try await fixture.clock.advance(by: .milliseconds(499), sleepers: 2)
        #expect(await fixture.model.screen == loading)
        try await fixture.clock.advance(by: .milliseconds(1), sleepers: 2)
        try await fixture.expect(loadingWithoutNetwork)
        fixture.monitor.goOnline()
        await second.value
        try await fixture.expect(fixture.picture(after: .milliseconds(500)))
        #expect(!(await fixture.model.screen.keys.plain.contains("try again")))
    }

    @Test func onlyTheErrorScreenCanBeTriedAgain() async throws {
        let fixture = try DemoFixture(.online(), answersAfter: .seconds(1))
        let run = fixture.start()
        try await fixture.clock.waitForSleepers(3)
        await fixture.model.run()  // while it loads: returns at once
        try await fixture.clock.advance(by: .seconds(1))
        await run.value
        await fixture.model.run()  // the picture is there
        try await fixture.expect(fixture.picture(after: .seconds(1)))
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func leavingWhileItLoadsLeavesNothingBehind() async throws {
        let fixture = try DemoFixture(.online(), answer: .silence)
        let run = fixture.start()
        try await fixture.clock.waitForSleepers(2)
        run.cancel()
        await run.value
        #expect(await fixture.model.screen == loading)
        try fixture.clock.checkNobodySleeps()
    }
}
