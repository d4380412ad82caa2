// SPDX-License-Identifier: Apache-2.0

/// The slot that the operation around the current task holds, so that a call in it needs no second one.
final class HeldSlot: Sendable {
    @TaskLocal static var current: HeldSlot?

    /// The slots of the operation and of those further out, which are other performers': one of each. A list, since
    /// operations that each begin the next one in a task of its own would make an endless chain.
    private let slots: [(core: PerformerCore, slot: PerformerMachine.Slot)]

    init(_ slot: PerformerMachine.Slot, of core: PerformerCore) {
        let others = Self.current?.slots.filter { $0.core !== core && $0.core.isTaken($0.slot) } ?? []
        slots = others + [(core, slot)]
    }

    /// The slot of this performer that the current task runs in.
    static func current(of core: PerformerCore) -> PerformerMachine.Slot? {
        current?.slots.first { $0.core === core }?.slot
    }

    /// How many slots tasks in the current one remember, for tests.
    static var depth: Int { current?.slots.count ?? 0 }
}
