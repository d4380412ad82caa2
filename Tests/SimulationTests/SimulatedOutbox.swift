// SPDX-License-Identifier: Apache-2.0
#if Store
@testable import UplinkStore

/// The rows of an outbox as the database has them.
struct SimulatedOutbox {
    struct Row {
        let id: Int64
        let key: ExactKey
        var isFailed = false
        var pause: Duration?
        var failedAt = Duration.zero
        /// Somebody wants it sent without a rest.
        var isRetried = false
    }

    private(set) var rows: [Row] = []
    private var lastID: Int64 = 0

    mutating func add(_ key: ExactKey) -> Int64 {
        lastID += 1
        rows.append(Row(id: lastID, key: key))
        return lastID
    }

    func row(_ id: Int64) -> Row? { rows.first { $0.id == id } }

    mutating func change(_ id: Int64, _ body: (inout Row) -> Void) {
        if let place = rows.firstIndex(where: { $0.id == id }) { body(&rows[place]) }
    }

    mutating func remove(_ id: Int64) { rows.removeAll { $0.id == id } }

    /// The first entries of keys, as a query finds them.
    func heads(of keys: Set<ExactKey>?, wallClock: Duration) -> [ExactKey: OutboxMachine.Head?] {
        var heads: [ExactKey: OutboxMachine.Head?] = [:]
        for key in keys ?? Set(rows.map(\.key)) {
            let head = rows.first { $0.key == key && !$0.isFailed }
            heads[key] = .some(
                head.map { row in
                    let rest = OutboxBackoff.remainder(
                        of: row.pause.map { $0 / .seconds(1) }, since: row.failedAt / .seconds(1),
                        now: wallClock / .seconds(1))
                    return OutboxMachine.Head(id: row.id, rest: rest)
                })
        }
        return heads
    }

    func checkMaySend(_ row: Row) throws {
        let isFirst = !rows.contains { $0.key == row.key && $0.id < row.id && !$0.isFailed && !$0.isRetried }
        try hold(isFirst, "entry \(row.id) of \(row.key) is sent before an earlier one")
    }
}

extension Array {
    func randomElement(_ dice: Dice) -> Element? { isEmpty ? nil : self[dice.roll(count)] }
}
#endif
