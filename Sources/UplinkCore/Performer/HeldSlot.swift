// SPDX-License-Identifier: Apache-2.0

/// The slot that the operation around the current task holds, so that a call inside it needs no second one.
final class HeldSlot: Sendable {
    @TaskLocal static var current: HeldSlot?

    /// A slot, and the performer that it belongs to. Tasks that outlive their operation remember it, and must not keep
    /// the performer.
    private struct Held: Sendable {
        weak let core: PerformerCore?
        let slot: PerformerMachine.Slot

        var isTaken: Bool { core?.isTaken(slot) ?? false }
    }

    /// The slots of the operation and of the operations around it that belong to other performers, one for each
    /// performer. A flat list, because operations that each start the next one in a task of its own would form an
    /// endless chain.
    private let slots: [Held]

    init(_ slot: PerformerMachine.Slot, of core: PerformerCore) {
        let others = Self.current?.slots.filter { $0.core !== core && $0.isTaken } ?? []
        slots = others + [Held(core: core, slot: slot)]
    }

    /// Returns the slot of this performer that the current task runs in.
    static func current(of core: PerformerCore) -> PerformerMachine.Slot? {
        current?.slots.first { $0.core === core }?.slot
    }

    /// The number of slots that tasks started in the current one remember, for tests.
    static var depth: Int { current?.slots.count ?? 0 }
}
