// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

/// A world around machines: time, servers, files and readers are models, and one thing happens after another.
///
/// What happens next is for the dice to say, and for nothing else, so that a seed tells a whole history.
protocol World {
    init(_ dice: Dice)

    /// Lets one of the things happen that may happen now.
    func step() throws
    /// Checks what holds at any time.
    func check() throws
    /// Makes everything well, lets all that is under way come to its end, and checks that nothing is left.
    func end() throws
}

/// What a world must never come to.
struct Violation: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Throws a ``Violation`` where something does not hold.
func hold(_ isSo: Bool, _ otherwise: @autoclosure () -> String) throws {
    if !isSo { throw Violation(otherwise()) }
}

/// Chance that comes again with its seed (SplitMix64), and what was done with it.
final class Dice {
    private var state: UInt64
    /// What happened; kept only where a history is told again.
    private(set) var story: [String]?

    init(seed: UInt64, tells: Bool = false) {
        state = seed
        story = tells ? [] : nil
    }

    /// A number from zero up to, and without, `count`.
    func roll(_ count: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(count))
    }

    /// True in one of `count` cases.
    func isOne(in count: Int) -> Bool { roll(count) == 0 }

    func pick<Element>(_ elements: [Element]) -> Element { elements[roll(elements.count)] }

    func tell(_ event: @autoclosure () -> String) {
        if story != nil { story?.append(event()) }
    }
}

/// Runs histories of a world, and tells of the first that breaks it.
enum Simulation {
    /// Whether the large counts are wanted.
    static let isFull = getenv("UPLINK_FULL").map { $0.pointee != 0 } ?? false
    /// The only history that is wanted, if one is.
    private static let seed = getenv("UPLINK_SEED").flatMap { UInt64(String(cString: $0)) }

    /// - Parameters:
    ///   - histories: How many, of seeds from one on; the same on every machine and every day.
    ///   - full: How many with `UPLINK_FULL=1`.
    static func run<Model: World>(
        _ world: Model.Type, histories: Int, full: Int, steps: Int, test function: String = #function
    ) {
        let seeds: [UInt64] = seed.map { [$0] } ?? (1...UInt64(isFull ? full : histories)).map { $0 }
        for seed in seeds {
            guard let violation = violation(in: world, Dice(seed: seed), steps) else { continue }
            let dice = Dice(seed: seed, tells: true)
            let again = Self.violation(in: world, dice, steps)
            let story = (dice.story ?? []).suffix(60).joined(separator: "\n  ")
            Issue.record(
                """
                \(Model.self) broke with seed \(seed): \(violation)\(again == nil ? ", but not when told again" : "")
                  \(story)
                Again: UPLINK_SEED=\(seed) swift test --traits Store --filter Histories/\(function.dropLast(2))
                """)
            return
        }
    }

    /// What a history breaks, if it does.
    static func violation<Model: World>(in world: Model.Type, _ dice: Dice, _ steps: Int) -> Violation? {
        let world = Model(dice)
        var done = 0
        do {
            while done < steps {
                try world.step()
                try world.check()
                done += 1
            }
            try world.end()
            try world.check()
            return nil
        } catch {
            return Violation("\(error), in step \(done)")
        }
    }
}
