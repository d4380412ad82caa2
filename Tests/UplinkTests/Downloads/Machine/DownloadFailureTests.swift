// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import Testing
import UplinkCore
import UplinkHTTP

@testable import Uplink

/// When there is another attempt, and when there is not.
@Suite(.timeLimit(.minutes(1)))
struct DownloadFailureTests {
    private let reset = HTTPClientError(
        .connectionReset, phase: .body, requestDisposition: .responseStarted, message: "the connection broke")

    private func asked(_ change: (inout DownloadOptions) -> Void = { _ in }) -> DownloadMachine {
        var machine = machine(change)
        _ = machine.ask()
        return machine
    }

    @Test func pausesDoubleUpToAMaximum() {
        var machine = asked()
        let pauses = (0..<10).map { _ in
            let pause = machine.failed(.passing(reset)).pause
            _ = machine.ask()
            return pause
        }
        #expect(
            pauses == [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000].map { Duration.milliseconds($0) })
    }

    @Test func chanceTakesUpToHalfOfAPause() {
        var backOff = DownloadBackOff()
        for (chance, pause) in [(0.0, 125), (0.5, 187.5), (1, 250), (.nan, 250), (-3, 125), (7, 250)] {
            backOff.random = { chance }
            #expect(backOff.pause(after: 1, remaining: nil) == .milliseconds(pause))
        }
    }

    @Test func noPauseTakesMoreThanHalfOfWhatIsLeft() {
        var machine = asked()
        machine.remaining = .milliseconds(300)
        #expect(machine.failed(.passing(reset)).pause == .milliseconds(150))
        machine.remaining = .milliseconds(200)
        #expect(machine.failed(.passing(reset)).pause == .milliseconds(125))
        machine.remaining = .milliseconds(100)
        #expect(machine.failed(.passing(reset)).pause == .milliseconds(100))
        machine.remaining = .zero
        #expect(machine.failed(.passing(reset)).pause == .zero)
    }

    @Test func aNewByteMakesTheFailuresForgotten() {
        var machine = asked()
        for _ in 0..<5 {
            _ = machine.failed(.passing(reset))
            _ = machine.ask()
        }
        _ = machine.answered(answer(200, length: 1000))
        _ = machine.received(1)
        #expect(machine.failed(.passing(reset)).pause == .milliseconds(250))
    }

    @Test func afterALossThereIsNoPauseButALossWithoutProgressHasOne() {
        var machine = asked()
        #expect(machine.failed(.networkLost("lost")).pause == .zero)
        _ = machine.ask()
        #expect(machine.failed(.networkLost("lost")).pause == .milliseconds(250))
        _ = machine.ask()
        #expect(machine.failed(.networkLost("lost")).pause == .milliseconds(500))
    }

    @Test func aNewPathEndsOnlyThePauseAfterAFailureToReachAServer() {
        func cutShort(_ code: HTTPClientError.Code, _ disposition: HTTPClientError.RequestDisposition) -> Duration? {
            var machine = asked()
            let error = HTTPClientError(code, phase: .connect, requestDisposition: disposition, message: "")
            return machine.failed(.init(error)).cutShort
        }
        #expect(cutShort(.connectionFailed, .notSent) == .milliseconds(125))
        #expect(cutShort(.firstByteTimeout, .maybeProcessed) == .milliseconds(125))
        // Here a server, or who stands in its place, has answered.
        #expect(cutShort(.connectionReset, .responseStarted) == nil)
        #expect(cutShort(.invalidResponse, .responseStarted) == nil)
        #expect(cutShort(.proxyRefused, .notSent) == nil)
        var machine = asked()
        #expect(machine.answered(answer(503, length: 0)).step?.cutShort == nil)
        machine = .interrupted()
        _ = machine.ask()
        let stranger = machine.answered(answer(200, tag: nil, length: 26)).step
        #expect(stranger?.pause == .milliseconds(250) && stranger?.cutShort == nil)
    }

    @Test func changesOfThePathMakeNoPauseLongerNorShorterThanHalfOfTheFirst() {
        let unreachable = HTTPClientError(.connectionFailed, phase: .connect, requestDisposition: .notSent, message: "")
        var machine = asked()
        for failures in 1...4 {
            let step = machine.failed(.passing(unreachable))
            #expect(step.pause == .milliseconds(125 << failures))
            #expect(step.cutShort == .milliseconds(125))
            _ = machine.ask()
        }
        machine.pauseWasCutShort()
        #expect(machine.failed(.passing(unreachable)).pause == .milliseconds(250))
        // So it is with losses, of which the first has no pause.
        machine = asked()
        for _ in 0..<2 {
            _ = machine.failed(.networkLost("lost"))
            _ = machine.failed(.networkLost("lost"))
            let step = machine.failed(.networkLost("lost"))
            #expect(step.pause == .milliseconds(500) && step.cutShort == .milliseconds(125))
            machine.pauseWasCutShort()
            #expect(machine.failed(.networkLost("lost")).pause == .milliseconds(250))
            machine = asked()
        }
        machine.remaining = .milliseconds(100)
        #expect(machine.failed(.passing(unreachable)).cutShort == .milliseconds(100))
    }

    @Test func lossesDoNotCountAsFailures() {
        var machine = asked { $0.backOff.maximumFailures = 0 }
        for _ in 0..<5 {
            #expect(machine.failed(.networkLost("a tunnel")).pause != nil)
            _ = machine.ask()
        }
        let error = machine.failed(.passing(reset)).error
        #expect(error?.code == .tooManyFailures)
        #expect(error?.message.hasPrefix("an attempt failed: ") == true, "\(error as Any)")
    }

    @Test func theFirstByteCanBeWaitedForLess() {
        let limits: (inout DownloadOptions) -> Void = {
            ($0.backOff.maximumFirstFailures, $0.backOff.maximumFailures) = (0, 1)
        }
        var machine = asked(limits)
        #expect(machine.failed(.passing(reset)).error?.code == .tooManyFailures)
        machine = .interrupted(limits)
        _ = machine.ask()
        #expect(machine.failed(.passing(reset)).pause != nil)
        _ = machine.ask()
        let error = machine.failed(.passing(reset)).error
        #expect(error?.message.hasPrefix("2 attempts in a row failed, the last: ") == true)
        // What an earlier run has left is of no use, and the whole is still to be asked for.
        machine = UplinkTests.machine(limits)
        let version = ResourceVersion(validator: .entityTag("\"v1\""), length: 1000, place: Fingerprint.of(machineURL))
        #expect(machine.found(version, bytes: 400) == true)
        _ = machine.ask()
        #expect(machine.answered(answer(412, length: 0)).step?.pause == .zero)
    }

    @Test func failuresInARowCanBeLimited() {
        var machine = asked { $0.backOff.maximumFailures = 2 }
        for _ in 0..<2 {
            #expect(machine.failed(.passing(reset)).pause != nil)
            _ = machine.ask()
        }
        let error = machine.failed(.passing(reset)).error
        #expect(error?.code == .tooManyFailures)
        #expect((error?.underlyingError as? HTTPClientError)?.code == .connectionReset)
    }

    @Test func bodiesThatAreCutShortEachTimeSaySo() {
        var machine = asked { $0.backOff.maximumFailures = 0 }
        _ = machine.answered(answer(200, length: 1000))
        _ = machine.received(400)
        let error = machine.bodyEnded().error
        #expect(error?.code == .tooManyFailures)
        #expect(error?.message == "an attempt failed: the body ended early")
        #expect((error?.underlyingError as? HTTPClientError)?.code == .truncated)
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 599])
    func somePassingStatusesAreTriedAgain(status: Int) {
        var machine = DownloadMachine.interrupted()
        _ = machine.ask()
        #expect(machine.answered(answer(status, length: 0)).step?.pause != nil)
        #expect(machine.ask() == .rest(from: 400, ifStill: .entityTag("\"v1\"")))  // nothing is forgotten
    }

    @Test(arguments: [201, 204, 206, 300, 304, 400, 401, 403, 404, 410, 412, 416, 451, 501, 505])
    func otherStatusesEndItAtOnce(status: Int) {
        var machine = asked()
        let error = machine.answered(answer(status, length: 0)).step?.error
        #expect(error?.code == .unexpectedStatus)
        #expect(error?.status == status)
        #expect(machine.state == .failed)
    }

    @Test func aServersOwnPauseIsKept() {
        var machine = asked()
        let busy = answer(503, length: 0, fields: [.retryAfter: "7"])
        machine.remaining = .seconds(60)
        #expect(machine.answered(busy).step?.pause == .seconds(7))
        _ = machine.ask()
        machine.remaining = .seconds(7)
        let error = machine.answered(busy).step?.error
        #expect(error?.code == .unexpectedStatus)  // it could not be kept
        #expect(error?.status == 503)
    }

    @Test(arguments: ["0", "Sun, 06 Nov 1994 08:49:37 GMT"])
    func aServerThatAsksForNoPauseIsNotAskedInALoop(wish: String) {
        var machine = asked()
        let busy = answer(503, length: 0, fields: [.retryAfter: wish])
        machine.remaining = .seconds(60)
        #expect(machine.answered(busy).step?.pause == .milliseconds(250))
        _ = machine.ask()
        #expect(machine.answered(busy).step?.pause == .milliseconds(500))
        _ = machine.ask()
        // When time is over, that is the reason, and not what the server wants.
        machine.remaining = .zero
        #expect(machine.answered(busy).step?.pause != nil)
    }

    @Test(arguments: ["86401", "9223372036854775807", "99999999999999999999"])
    func aServersPauseIsBounded(wish: String) {
        var machine = asked()
        _ = machine.failed(.passing(reset))
        _ = machine.ask()
        let busy = answer(429, length: 0, fields: [.retryAfter: wish])
        let error = machine.answered(busy).step?.error
        #expect(error?.code == .unexpectedStatus)
        #expect(error?.status == 429)
        #expect(error?.message.contains("maximumRetryAfter") == true)
        var patient = asked()
        #expect(patient.answered(answer(429, fields: [.retryAfter: "86400"])).step?.pause != nil)
    }

    @Test func anUnwantedSizeEndsItAtOnce() {
        var machine = asked { $0.maximumSize = 999 }
        #expect(machine.answered(answer(200, length: 1000)).step?.error?.code == .tooLarge)
        machine = asked { $0.expectedSize = 999 }
        #expect(machine.answered(answer(200, length: 1000)).step?.error?.code == .sizeMismatch)
        // Chunks tell it later.
        machine = asked { $0.maximumSize = 999 }
        _ = machine.answered(answer(200))
        #expect(machine.received(999) == nil)
        #expect(machine.received(1)?.error?.code == .tooLarge)
        machine = asked { $0.expectedSize = 999 }
        _ = machine.answered(answer(200))
        #expect(machine.received(1000)?.error?.code == .sizeMismatch)
        machine = asked { $0.expectedSize = 999 }
        _ = machine.answered(answer(200))
        #expect(machine.received(998) == nil)
        #expect(machine.bodyEnded().error?.code == .sizeMismatch)
    }

    @Test func aConnectionsEndBeforeTheExpectedSizeIsTriedAgain() {
        var machine = asked { $0.expectedSize = 999 }
        _ = machine.answered(answer(200, tag: nil, framed: false))
        _ = machine.received(998)
        #expect(machine.bodyEnded().pause != nil)
    }

    @Test func aHeadThatIsCutShortIsTriedAgainButNotForEver() {
        let cut = HTTPClientError(.invalidResponse, phase: .firstByte, message: "the head ended early")
        var machine = asked()
        func fails(_ times: Int) -> DownloadMachine.Step? {
            var last: DownloadMachine.Step?
            for _ in 0..<times {
                last = machine.failed(.init(cut))
                _ = machine.ask()
            }
            return last
        }
        #expect(fails(4)?.pause == .seconds(2))
        // A byte makes them forgotten.
        _ = machine.answered(answer(200, length: 1000))
        _ = machine.received(1)
        #expect(fails(4)?.pause == .seconds(2))
        let error = fails(1)?.error
        #expect(error?.code == .requestFailed)
        #expect((error?.underlyingError as? HTTPClientError)?.code == .invalidResponse)
    }

    @Test func errorsAreOfFourKinds() {
        func kind(_ error: any Error) -> String {
            switch DownloadMachine.Failure(error) {
            case .networkLost: "lost"
            case .passing: "passing"
            case .doubtful: "doubtful"
            case .lasting(let error): "\(error.code)"
            }
        }
        func http(_ code: HTTPClientError.Code) -> HTTPClientError {
            HTTPClientError(code, phase: .body, message: "")
        }
        #expect(kind(NetworkOperationError(.networkLost, message: "")) == "lost")
        let full = DownloadError(.diskFull, message: "")
        #expect(kind(NetworkOperationError(.networkLost, message: "", underlyingError: full)) == "diskFull")
        #expect(kind(NetworkOperationError(.monitorFailed, message: "")) == "networkUnknown")
        #expect(kind(http(.networkChanged)) == "lost")
        for code in [
            HTTPClientError.Code.connectionReset, .truncated, .stallTimeout, .dnsFailed, .emptyReply, .queueFull,
        ] {
            #expect(kind(http(code)) == "passing")
        }
        for code in [HTTPClientError.Code.certificateExpired, .tooManyRedirects, .closed] {
            #expect(kind(http(code)) == "requestFailed")
        }
        for code in [HTTPClientError.Code.invalidResponse, .invalidFraming, .proxyRefused] {
            #expect(kind(http(code)) == "doubtful")
        }
        for (number, expected) in [(EMFILE, "doubtful"), (ENFILE, "doubtful"), (ECONNREFUSED, "passing")] {
            var error = http(.connectionFailed)
            error.errno = number
            #expect(kind(error) == expected)
        }
        #expect(kind(http(.invalidURL)) == "invalidOptions")
        #expect(kind(DownloadError(.diskFull, message: "")) == "diskFull")
        #expect(kind(CancellationError()) == "requestFailed")
    }

    @Test func onlyWhatIsOfUseIsKept() {
        func keeps(_ machine: DownloadMachine, _ code: DownloadError.Code, status: Int? = nil) -> Bool {
            var error = DownloadError(code, message: "")
            error.status = status
            return machine.isWorthKeeping(after: error)
        }
        let machine = DownloadMachine.interrupted()
        for code in [DownloadError.Code.deadlineExceeded, .diskFull, .tooManyFailures, .requestFailed] {
            #expect(keeps(machine, code))
        }
        #expect(machine.isWorthKeeping(after: CancellationError()))
        for code in [DownloadError.Code.tooLarge, .sizeMismatch, .checksumMismatch, .tooManyRestarts] {
            #expect(!keeps(machine, code))
        }
        #expect(keeps(machine, .unexpectedStatus, status: 403))
        #expect(keeps(machine, .unexpectedStatus, status: 404))  // such as while a new release is put there
        #expect(!keeps(machine, .unexpectedStatus, status: 410))
        #expect(!keeps(.interrupted(tag: "W/\"v1\""), .deadlineExceeded))
        #expect(!keeps(.interrupted(after: 0), .deadlineExceeded))
    }
}
