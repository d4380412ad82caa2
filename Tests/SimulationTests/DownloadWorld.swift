// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

@testable import Uplink

/// A download: `DownloadMachine` with a server, a file and a network that are models, on a clock that a pause moves.
/// The program is killed now and then, and what the next one finds of the file is what was written, or less.
final class DownloadWorld: World {
    /// What passes, as the machine is told it.
    private struct Broken: Error, CustomStringConvertible { let description = "the connection broke" }

    let dice: Dice
    private let limits: DownloadLimits
    private var server: SimulatedServer
    private var machine: DownloadMachine
    private var now = Duration.zero
    private let deadline: Duration?
    /// The bytes that are there, which version they are of, and what the file's record says.
    private var file: [UInt8] = []
    private var fileVersion: Int?
    private var record: ResourceVersion?
    /// The answer whose body arrives, and how much of it has come.
    private var answer: (SimulatedServer.Answer, arrived: Int)?
    private var outcome: DownloadMachine.Step?
    private var attempts = 0

    init(_ dice: Dice) {
        self.dice = dice
        var options = DownloadOptions()
        options.backOff.random = { 1 }
        options.acceptsUnframedBodies = dice.isOne(in: 4)
        options.maximumRestarts = dice.pick([0, 2, 10])
        if dice.isOne(in: 4) { options.backOff.maximumFailures = 1 + dice.roll(4) }
        if dice.isOne(in: 6) { options.maximumSize = 30 }
        limits = DownloadLimits(options)
        server = SimulatedServer(dice)
        machine = DownloadMachine(url: SimulatedServer.url, limits: limits)
        deadline = dice.isOne(in: 3) ? .seconds(100) : nil
    }

    private var remaining: Duration? { deadline.map { max(.zero, $0 - now) } }

    // MARK: What happens

    func step() throws {
        if outcome != nil { return try begin() }
        switch dice.roll(24) {
        case 0: server.change()
        case 1: try kill()
        default: try goOn()
        }
    }

    /// Another download to the same file, after the end of one.
    private func begin() throws {
        if case .complete = outcome { (file, fileVersion, record) = ([], nil, nil) }
        outcome = nil
        try adopt()
    }

    private func kill() throws {
        dice.tell("killed with \(file.count) bytes")
        answer = nil
        file.removeLast(dice.isOne(in: 2) ? 0 : dice.roll(file.count + 1))  // not all had reached the disk
        try adopt()
    }

    /// Begins with what an earlier run has left.
    private func adopt() throws {
        machine = DownloadMachine(url: SimulatedServer.url, limits: limits)
        if let record, machine.found(record, bytes: Int64(file.count)) {
            dice.tell("goes on with \(file.count) bytes")
        } else {
            (file, fileVersion, record) = ([], nil, nil)
        }
    }

    private func goOn() throws {
        machine.remaining = remaining
        if let (answer, arrived) = self.answer { return try receive(answer, arrived) }
        if dice.isOne(in: 15) {
            return try take(machine.failed(.networkLost("the cable is out")))
        }
        let plan = machine.ask()
        attempts += 1
        if case .rest(let offset, _) = plan {
            try hold(offset == file.count, "asks for what follows \(offset) bytes, and has \(file.count)")
        }
        let answer = server.answer(to: plan)
        dice.tell("asks for \(plan), and gets \(answer.head.status) with \(answer.body) of version \(answer.version)")
        switch machine.answered(answer.head) {
        case .begin(let version):
            (file, fileVersion, record) = ([], answer.version, version)
            self.answer = (answer, 0)
        case .append(let version):
            try hold(answer.body.lowerBound == file.count, "puts \(answer.body) behind \(file.count) bytes")
            try hold(answer.version == fileVersion, "puts version \(answer.version) behind another one")
            record = version
            self.answer = (answer, 0)
        case .leave(let step):
            if case .again(let pause, _) = step, let wanted = answer.head.retryAfter {
                let isKept = pause.length >= wanted && pause.cutShort == nil
                try hold(isKept, "pauses for \(pause), and was asked to for \(wanted)")
            }
            try take(step)
        }
    }

    private func receive(_ answer: SimulatedServer.Answer, _ arrived: Int) throws {
        if let breaks = answer.breaksAfter, arrived >= breaks {
            self.answer = nil
            // Where only the connection's end tells, a break looks like the end.
            guard answer.head.isFramed else { return try take(machine.bodyEnded()) }
            if answer.head.bodyLength != nil, arrived < answer.body.count, dice.isOne(in: 4) {
                // An engine that has not noticed.
                let failures = machine.failures
                try take(machine.bodyEnded())
                return try hold(machine.failures > failures, "the end came early, and is no failure")
            }
            let failure: DownloadMachine.Failure =
                dice.isOne(in: 2) ? .passing(Broken()) : .networkLost("the cable is out")
            return try take(machine.failed(failure))
        }
        let left = answer.body.count + answer.excess - arrived
        guard left > 0 else {
            self.answer = nil
            return try take(machine.bodyEnded())
        }
        let count = min(1 + dice.roll(20), left, (answer.breaksAfter ?? .max) - arrived)
        if let step = machine.received(count) {
            self.answer = nil
            return try take(step)
        }
        try hold(machine.failures == 0, "\(machine.failures) failures in a row, and bytes have come")
        let start = answer.body.lowerBound + arrived
        file += (start..<start + count).map { SimulatedServer.byte($0, of: answer.version) }
        self.answer = (answer, arrived + count)
    }

    private func take(_ step: DownloadMachine.Step) throws {
        dice.tell("\(step)")
        if machine.version == nil { (file, fileVersion, record) = ([], nil, nil) }
        switch step {
        case .again(let pause, _):
            let length = pause.length
            try hold(length >= .zero && length <= limits.backOff.maximumRetryAfter, "pauses for \(pause)")
            try hold(length < remaining ?? .seconds(Int64.max) || length == .zero, "pauses beyond the deadline")
            guard let cutShort = pause.cutShort, dice.isOne(in: 3) else { return now += length }
            try hold(cutShort <= length, "pauses for longer when it is cut short: \(pause)")
            dice.tell("another path ends the pause")
            machine.pauseWasCutShort()
            now += cutShort
        case .complete:
            try checkIsWhole()
            outcome = step
        case .fail(let error):
            try hold(error.code != .requestFailed, "\(error)")
            if !machine.isWorthKeeping(after: error) { (file, fileVersion, record) = ([], nil, nil) }
            outcome = step
        }
    }

    // MARK: What holds

    private func checkIsWhole() throws {
        guard let version = fileVersion else { throw Violation("is whole, and of no version") }
        try hold(machine.received == file.count, "is whole with \(machine.received) bytes, and has \(file.count)")
        // Without a length and without framing a break is the end, which is why nobody gets it without asking for it.
        let isTold = server.size(of: version) == file.count || limits.acceptsUnframed
        try hold(isTold, "is whole with \(file.count) bytes of version \(version)")
    }

    func check() throws {
        if outcome == nil {
            try hold(machine.received == file.count, "counts \(machine.received) bytes, and has \(file.count)")
        }
        guard let fileVersion else { return try hold(file.isEmpty, "has bytes of no version") }
        for (offset, byte) in file.enumerated() where byte != SimulatedServer.byte(offset, of: fileVersion) {
            throw Violation("byte \(offset) is not that of version \(fileVersion)")
        }
        try hold(machine.restarts <= limits.maximumRestarts + 1, "\(machine.restarts) restarts")
        let most = limits.backOff.maximumFailures ?? .max
        try hold(machine.failures <= most || outcome != nil, "\(machine.failures) failures in a row")
    }

    func end() throws {
        server.isWell = true
        for _ in 0..<200 {
            if outcome == nil { try goOn() } else { break }
            try check()
        }
        guard let outcome else { throw Violation("does not end, though all is well") }
        guard case .fail(let error) = outcome else { return }
        let passed: Set<DownloadError.Code> = [
            .tooManyFailures, .tooManyRestarts, .tooLarge, .unexpectedStatus, .unframedBody,
        ]
        try hold(passed.contains(error.code), "fails with \(error.code): \(error)")
    }
}
