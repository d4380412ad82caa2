// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkHTTP

private struct RefreshFailed: Error {}

@Suite(.timeLimit(.minutes(1)))
struct BearerAuthenticationTests {
    private let transport = StubTransport()
    private let asked = Notes<String?>()
    private let url = "https://a.example/"

    /// Answers 401 to all tokens but these, once the gate is open.
    private func accept(_ tokens: String..., holding gate: Gate? = nil) {
        transport.respond { request in
            let isAccepted = tokens.contains { request.head.headerFields[.authorization] == "Bearer \($0)" }
            if !isAccepted { await gate?.pass() }
            return .text(isAccepted ? "yes" : "no", status: isAccepted ? .ok : .unauthorized)
        }
    }

    /// Gives t1, t2, ….
    private func bearer() throws -> HTTPBearerAuthentication {
        try .bearer(for: ["https://a.example"]) { [asked] refused in
            asked.add(refused)
            return "t\(asked.all.count)"
        }
    }

    @Test func oneTokenServesManyRequests() async throws {
        accept("t1")
        let client = HTTPClient(transport, try bearer())
        for _ in 0..<3 { #expect(try await client.get(url).status == .ok) }
        #expect(asked.all == [nil])
        #expect(transport.requests.count == 3)
    }

    @Test func aRefusedTokenIsReplacedAndTheRequestSentOnceMore() async throws {
        accept("t2")
        let client = HTTPClient(transport, try bearer())
        for _ in 0..<2 { #expect(try await client.get(url).status == .ok) }
        #expect(asked.all == [nil, "t1"])
        #expect(transport.requests.count == 3)
    }

    @Test func aPostIsSentOnceMoreUnlessItsBodyIsGone() async throws {
        accept("t2")
        let client = HTTPClient(transport, try bearer())
        #expect(try await client.post(url, body: .bytes([1])).status == .ok)
        #expect(transport.bodies == [[1], [1]])
        accept("t3")
        let pieces = AsyncStream<[UInt8]> { $0.finish() }
        #expect(try await client.post(url, body: .stream(pieces)).status == .unauthorized)
        #expect(try await client.get(url).status == .ok)  // the refusal was noted
        #expect(asked.all == [nil, "t1", "t2"])
    }

    @Test func aSecondRefusalIsTheAnswer() async throws {
        accept()
        let response = try await HTTPClient(transport, try bearer()).get(url)
        #expect(response.status == .unauthorized)
        #expect(try await response.body.collect(upTo: 2) == Array("no".utf8))
        #expect(asked.all == [nil, "t1"])
        #expect(transport.requests.count == 2)
    }

    /// For one resource, or by one faulty instance; the login server has no other.
    @Test func aTokenThatWasRefusedOnceAndIsAcceptedAgainIsValid() async throws {
        transport.answer("https://a.example/admin", .text("no", status: .unauthorized))
        transport.answer(url, .text("yes"))
        let bearer = try HTTPBearerAuthentication.bearer(for: ["https://a.example"]) { [asked] refused in
            asked.add(refused)
            return "same"
        }
        let client = HTTPClient(transport, bearer)
        #expect(try await client.get("https://a.example/admin").status == .unauthorized)
        for _ in 0..<3 { #expect(try await client.get(url).status == .ok) }
        #expect(asked.all == [nil, "same", "same"])
    }

    @Test func theSameTokenAgainIsNotSentAgain() async throws {
        accept()
        let client = HTTPClient(transport, try .bearer(for: ["https://a.example"]) { _ in "same" })
        let response = try await client.get(url)
        #expect(response.status == .unauthorized)
        #expect(try await response.body.collect(upTo: 2) == Array("no".utf8))
        #expect(transport.requests.count == 1)
    }

    /// The answer to HEAD stays what it was: with the length of what a GET would bring, and no content to be decoded.
    @Test func aRefusalWithoutABodyIsHandedBackAsItCame() async throws {
        transport.respond { _ in
            .response(.unauthorized, headers: [.contentEncoding: "br", .contentLength: "1234"])
        }
        let client = HTTPClient(transport, try .bearer(for: ["https://a.example"]) { _ in "same" })
        let response = try await client.head(url)
        #expect(response.status == .unauthorized && response.body.framing == .none)
        #expect(response.body.contentLength == 1234)
    }

    /// What is too long to be kept is let go of before the provider is asked, who may need its connection.
    @Test func aLongRefusalIsAskedForOnceMore() async throws {
        let reason = String(repeating: "no", count: 50_000)
        transport.respond { _ in .text(reason, status: .unauthorized) }
        let client = HTTPClient(transport, try .bearer(for: ["https://a.example"]) { _ in "same" })
        let response = try await client.get(url)
        #expect(response.status == .unauthorized)
        #expect(try await response.body.collect(upTo: 100_000) == Array(reason.utf8))
        #expect(transport.requests.count == 2)
    }

    @Test func fiftyRefusalsAtOnceAreOneRefresh() async throws {
        let (refusal, gate) = (Gate(), Gate())
        accept("t2", holding: refusal)
        let bearer: HTTPBearerAuthentication = try .bearer(for: ["https://a.example"]) { [asked] refused in
            asked.add(refused)
            if refused != nil { await gate.pass() }
            return refused == nil ? "t1" : "t2"
        }
        let client = HTTPClient(transport, bearer)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { [url] in try await client.get(url).status.code } }
            try await eventually { transport.requests.count == 50 }
            refusal.open()
            try await eventually { bearer.waiting == 50 && gate.waiting == 1 }
            gate.open()
            for try await status in group { #expect(status == 200) }
        }
        #expect(asked.all == [nil, "t1"])
        #expect(transport.requests.count == 100)
    }

    @Test func aFailedRefreshIsTheErrorOfAllAndTheNextRequestAsksAgain() async throws {
        let (refusal, gate) = (Gate(), Gate())
        accept("t3", holding: refusal)
        let bearer: HTTPBearerAuthentication = try .bearer(for: ["https://a.example"]) { [asked] refused in
            asked.add(refused)
            if asked.all.count == 2 {
                await gate.pass()
                throw RefreshFailed()
            }
            return "t\(asked.all.count)"
        }
        let client = HTTPClient(transport, bearer)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 {
                group.addTask { [url] in
                    do {
                        _ = try await client.get(url)
                        return false
                    } catch { return error is RefreshFailed }
                }
            }
            do {
                try await eventually { transport.requests.count == 10 }
                refusal.open()
                try await eventually { bearer.waiting == 10 && gate.waiting == 1 }
            } catch { Issue.record(error) }
            gate.open()
            for await isRefreshFailed in group { #expect(isRefreshFailed) }
        }
        #expect(try await client.get(url).status == .ok)
        #expect(asked.all == [nil, "t1", "t1"])
    }

    @Test func whoWaitsMayLeaveAndTheLastOneEndsTheRefresh() async throws {
        let refusal = Gate()
        accept("t2", holding: refusal)
        let isCancelled = Notes<Bool>()
        let bearer: HTTPBearerAuthentication = try .bearer(for: ["https://a.example"]) { [asked] refused in
            asked.add(refused)
            if refused == nil { return "t1" }
            do {
                try await Task.sleep(for: .seconds(100))
            } catch { isCancelled.add(true) }
            return "t2"
        }
        let client = HTTPClient(transport, bearer)
        let first = Task { [url] in try await client.get(url).status }
        let second = Task { [url] in try await client.get(url).status }
        try await eventually { transport.requests.count == 2 }
        refusal.open()
        try await eventually { bearer.waiting == 2 && asked.all == [nil, "t1"] }
        first.cancel()
        await #expect(throws: CancellationError.self) { _ = try await first.value }
        #expect(isCancelled.all.isEmpty)
        second.cancel()
        await #expect(throws: CancellationError.self) { _ = try await second.value }
        try await eventually { isCancelled.all == [true] }
    }

    @Test func waitingForATokenIsInTheTotal() async throws {
        accept("t1")
        let clock = ManualClock()
        let isCancelled = Notes<Bool>()
        let bearer: HTTPBearerAuthentication = try .bearer(for: ["https://a.example"]) { [asked] refused in
            asked.add(refused)
            do {
                try await Task.sleep(for: .seconds(100))
            } catch { isCancelled.add(true) }
            return "t1"
        }
        let client = HTTPClient(transport, bearer, clock: clock)
        let task = Task { [url] in try await client.get(url, timeouts: HTTPTimeouts(total: .seconds(5))) }
        try await eventually { asked.all == [nil] }
        try await clock.advance(by: .seconds(5))
        #expect(await clientError { _ = try await task.value }?.code == .totalTimeout)
        try await eventually { isCancelled.all == [true] }
        #expect(transport.requests.isEmpty)
        try clock.checkNobodySleeps()
    }

    @Test(arguments: ["", "a b", "=a", "a=b", "ä", "a\n", "="]) func whatIsNoTokenIsAnError(_ token: String)
        async throws
    {
        let client = HTTPClient(transport, try .bearer(for: ["https://a.example"]) { _ in token })
        let error = await clientError { _ = try await client.get(url) }
        #expect(error?.code == .invalidRequest)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: ["abcXYZ019-._~+/", "a=="]) func whatIsOneIsSent(_ token: String) async throws {
        accept(token)
        let client = HTTPClient(transport, try .bearer(for: ["https://a.example"]) { _ in token })
        #expect(try await client.get(url).status == .ok)
    }

    @Test func otherOriginsGetNone() async throws {
        transport.respond { _ in .text("a", status: .unauthorized) }
        #expect(try await HTTPClient(transport, try bearer()).get("https://b.example/").status == .unauthorized)
        #expect(asked.all.isEmpty)
        #expect(transport.requests.count == 1)
    }

    @Test func aTokenThatComesLateIsUsedInsteadOfAskingAgain() {
        var machine = TokenMachine()
        #expect(machine.token(insteadOf: nil) == .ask(refused: nil))
        machine.received("a")
        #expect(machine.token(insteadOf: nil) == .use("a"))
        #expect(machine.token(insteadOf: "a") == .ask(refused: "a"))
        #expect(machine.token(insteadOf: nil) == .ask(refused: "a"))
        machine.received("a")
        #expect(machine.phase == .refused("a"))
        machine.received("b")
        #expect(machine.token(insteadOf: "a") == .use("b"))
        machine.wasRefused("a")
        #expect(machine.phase == .valid("b"))
        machine.wasRefused("b")
        #expect(machine.token(insteadOf: nil) == .ask(refused: "b"))
    }

    @Test func whatWasDecidedIsAskedForOnlyIfItIsStillSo() {
        var machine = TokenMachine()
        #expect(machine.turn(toAskInsteadOf: nil) == .ask)
        machine.received("a")
        #expect(machine.turn(toAskInsteadOf: nil) == .use("a"))
        #expect(machine.token(insteadOf: "a") == .ask(refused: "a"))
        #expect(machine.turn(toAskInsteadOf: "a") == .ask)
        machine.received("b")
        #expect(machine.turn(toAskInsteadOf: "a") == .use("b"))
        machine.wasRefused("b")
        #expect(machine.turn(toAskInsteadOf: "a") == .decideAnew)
        #expect(machine.turn(toAskInsteadOf: "b") == .ask)
        // An old one comes late, and is not known to be refused any more.
        machine.received("a")
        #expect(machine.turn(toAskInsteadOf: "a") == .ask)
    }
}
