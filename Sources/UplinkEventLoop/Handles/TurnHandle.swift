// SPDX-License-Identifier: Apache-2.0
import CLibUV

/// A `uv_prepare_t`, which is called in every turn, right before the loop waits for events.
final class TurnHandle: HandleBox<uv_prepare_t>, @unchecked Sendable {  // as its superclass
    private let turnEnds: () -> Void

    init(on state: LoopState, _ turnEnds: @escaping () -> Void) throws(EventLoopError) {
        self.turnEnds = turnEnds
        super.init()
        try open(on: state, during: "starting an event loop") { uv_prepare_init($0, memory) }
        uv_prepare_start(memory) { recover(TurnHandle.self, $0)?.turnEnds() }
    }
}
