// SPDX-License-Identifier: Apache-2.0

@testable import UplinkHTTP

/// A request's body on its way: `UploadMachine` with a producer and an engine that are models. The producer may end
/// early, fail or give too much; the engine takes in its own time, and wants no more at any moment.
final class UploadWorld: World {
    private struct Own: Error {}

    private enum Producer { case gives, refused, parked, woken, ended }

    let dice: Dice
    private let highMark = 30
    private let length: Int?
    private var machine: UploadMachine<Int>
    private var producer = Producer.gives
    /// The piece that is offered until it is taken.
    private var piece = 0
    private var suspensions = 0
    private var (given, sent) = (0, 0)
    private var hasFailed = false
    /// The engine has found nothing, and was not told anything since.
    private var isAsleep = false
    private var isStopped = false
    private var outcome: UploadReading?

    init(_ dice: Dice) {
        self.dice = dice
        length = dice.isOne(in: 2) ? dice.roll(120) : nil
        machine = UploadMachine(length: length.map { Int64($0) }, highMark: highMark)
    }

    private static func byte(_ offset: Int) -> UInt8 { UInt8(truncatingIfNeeded: offset * 13) }

    // MARK: What happens

    func step() throws {
        switch dice.roll(7) {
        case 0, 1, 2: try produce(mayFail: true)
        case 3: try flush()
        case 4: if dice.isOne(in: 30) { try stop() }
        default: try take()
        }
    }

    private func produce(mayFail: Bool) throws {
        switch producer {
        case .gives:
            // Mostly what was announced.
            let left = length.map { $0 - given } ?? (mayFail ? 40 : 0)
            if mayFail ? dice.isOne(in: 15) : left <= 0 { return finish(throwing: mayFail && dice.isOne(in: 3)) }
            if left <= 0, !dice.isOne(in: 20) { return finish(throwing: false) }
            piece = 1 + dice.roll(dice.isOne(in: 8) ? 60 : 12)
            if !dice.isOne(in: 20), left > 0 { piece = min(piece, left) }
            try offer()
        case .refused:
            suspensions += 1
            if machine.park(suspensions) { producer = .parked } else { try offer() }
        case .woken: try offer()
        case .parked, .ended: break
        }
    }

    private func offer() throws {
        let isTooMuch = length.map { given + piece > $0 } ?? false
        switch machine.offer(HTTPBody.Chunk((given..<given + piece).map(Self.byte))) {
        case .taken(let wakes):
            try hold(!isTooMuch, "more is taken than was announced")
            given += piece
            producer = .gives
            if wakes { isAsleep = false }
        case .full:
            try hold(machine.bytes > 0, "there is no room, and nothing waits")
            producer = .refused
        case .failed:
            try hold(isTooMuch, "\(piece) bytes behind \(given) of \(length ?? -1) are too much")
            hasFailed = true
            finish(throwing: true)
        case .stopped:
            try hold(isStopped, "nobody has stopped it")
            finish(throwing: true)
        }
    }

    private func finish(throwing: Bool) {
        dice.tell("the producer ends after \(given) bytes of \(length ?? -1)\(throwing ? " with an error" : "")")
        producer = .ended
        if throwing || length.map({ $0 != given }) ?? false { hasFailed = true }
        if machine.finish(throwing: throwing ? Own() : nil) { isAsleep = false }
    }

    private func take() throws {
        guard !isAsleep, !isStopped, outcome == nil else { return }
        let room = 1 + dice.roll(25)
        var memory = [UInt8](repeating: 0, count: room)
        let taking = memory.withUnsafeMutableBytes { machine.take(into: $0) }
        switch taking {
        case .bytes(let count):
            try hold(count > 0 && count <= room, "\(count) bytes for \(room)")
            for byte in memory[..<count] {
                try hold(byte == Self.byte(sent), "byte \(sent) is another one")
                sent += 1
            }
            // Whole for the server is what it must not be before the producer has said so.
            let isWhole = sent == length && producer != .ended
            try hold(!isWhole, "all is sent, and the producer has not ended")
        case .wait: isAsleep = true
        case .end:
            outcome = taking
            try hold(producer == .ended && !hasFailed, "it is whole for the engine, and was not for the producer")
            try hold(sent == given && sent == length ?? sent, "it is whole with \(sent) of \(given) bytes")
        case .failed:
            outcome = taking
            try hold(hasFailed && machine.failure != nil, "it fails, and the producer did not")
        }
    }

    private func flush() throws { try wake(machine.flush()) }

    private func wake(_ waiter: Int?) throws {
        guard let waiter else { return }
        try hold(producer == .parked && waiter == suspensions, "suspension \(waiter) of the producer is ended")
        producer = .woken
    }

    private func stop() throws {
        dice.tell("nobody wants it any more")
        isStopped = true
        try wake(machine.stop())
        try hold(machine.bytes == 0, "\(machine.bytes) bytes wait for nobody")
    }

    // MARK: What holds

    func check() throws {
        // A large piece waits alone.
        try hold(machine.bytes <= max(highMark, 60), "\(machine.bytes) bytes wait")
        try hold(sent <= given, "\(sent) bytes were sent of \(given)")
        try hold(isStopped || machine.bytes == given - sent, "\(machine.bytes) bytes wait, not \(given - sent)")
        guard isAsleep, !isStopped else { return }
        let held = producer != .ended && length.map { given == $0 } ?? false ? 1 : 0
        try hold(given - sent <= held, "\(given - sent) bytes wait, and the engine is not told")
        try hold(producer != .ended, "the producer has ended, and the engine is not told")
    }

    func end() throws {
        for _ in 0..<1000 {
            if producer == .ended, isStopped || outcome != nil { break }
            try produce(mayFail: false)
            try take()
            // The engine's turn ends, and with it comes the word to go on.
            try flush()
            try check()
            if outcome == .failed { try stop() }
        }
        try hold(isStopped || outcome != nil, "it never ends: \(sent) of \(given) bytes, \(producer)")
        try hold(producer == .ended, "the producer never ends: \(producer)")
    }
}
