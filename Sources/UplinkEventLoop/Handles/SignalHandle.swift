// SPDX-License-Identifier: Apache-2.0
import CLibUV

/// A `uv_signal_t`, which takes over one signal for the process while it is open.
final class SignalHandle: HandleBox<uv_signal_t>, @unchecked Sendable {  // as its superclass
    private let received: () -> Void

    init(on state: LoopState, signal: CInt, _ received: @escaping () -> Void) throws(EventLoopError) {
        self.received = received
        super.init()
        try open(on: state, during: "watching signal \(signal)") { uv_signal_init($0, memory) }
        let status = uv_signal_start(memory, { handle, _ in recover(SignalHandle.self, handle)?.received() }, signal)
        guard status == 0 else {
            close()
            throw EventLoopError(libuv: status, during: "watching signal \(signal)")
        }
    }
}
