// SPDX-License-Identifier: Apache-2.0
import CLibUV

/// An open libuv handle of any kind, which keeps itself alive until libuv's close callback.
class LoopHandle: @unchecked Sendable {  // used only on its loop's thread, except for its release
    private let handle: UnsafeMutablePointer<uv_handle_t>
    private(set) var isOpen = false

    fileprivate init(_ handle: UnsafeMutablePointer<uv_handle_t>) { self.handle = handle }

    /// Checks the status that libuv returned for the handle's initialisation.
    fileprivate func didOpen(status: CInt, during activity: String) throws(EventLoopError) {
        guard status == 0 else { throw EventLoopError(libuv: status, during: activity) }
        handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
        isOpen = true
    }

    /// Called when the loop ends while the handle is open, before it is closed: a last notice to those who rely on it.
    final var whenLoopEnds: () -> Void = {}

    /// Closes the handle, once. Its closure is not called afterwards.
    final func close() {
        guard isOpen else { return }
        isOpen = false
        uv_close(handle) { handle in
            if let data = handle?.pointee.data { Unmanaged<LoopHandle>.fromOpaque(data).release() }
        }
    }

    /// The loop ends: the handle gives notice and closes.
    final func loopEnds() {
        guard isOpen else { return }
        whenLoopEnds()
        close()
    }
}

/// A libuv handle with its memory, which libuv uses until the close callback and no longer.
///
/// `Memory` is libuv's struct for the kind of handle.
class HandleBox<Memory>: LoopHandle, @unchecked Sendable {  // as its superclass
    let memory: UnsafeMutablePointer<Memory>

    init() {
        memory = .allocate(capacity: 1)
        super.init(UnsafeMutableRawPointer(memory).assumingMemoryBound(to: uv_handle_t.self))
    }

    deinit { memory.deallocate() }

    /// Initialises the handle with libuv's own call for it.
    final func open(
        on state: LoopState, during activity: String, _ initialise: (UnsafeMutablePointer<uv_loop_t>) -> CInt
    ) throws(EventLoopError) {
        try didOpen(status: initialise(state.uv), during: activity)
    }
}

/// Returns the box that a callback's handle belongs to.
func recover<Box: AnyObject, Memory>(_: Box.Type, _ handle: UnsafeMutablePointer<Memory>?) -> Box? {
    guard let handle else { return nil }
    let data = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self).pointee.data
    return data.map { Unmanaged<Box>.fromOpaque($0).takeUnretainedValue() }
}
