// SPDX-License-Identifier: Apache-2.0

/// The slot that the operation around the current task holds, so that a call in it needs no second one.
final class HeldSlot: Sendable {
    @TaskLocal static var current: HeldSlot?

    private let core: PerformerCore
    private let slot: PerformerMachine.Slot
    /// That of the operation further out, which may be another performer's.
    private let outer: HeldSlot?

    init(_ slot: PerformerMachine.Slot, of core: PerformerCore) {
        (self.core, self.slot, outer) = (core, slot, Self.current)
    }

    /// The slot of this performer that the current task runs in.
    static func current(of core: PerformerCore) -> PerformerMachine.Slot? {
        var held = current
        while let here = held, here.core !== core { held = here.outer }
        return held?.slot
    }
}
