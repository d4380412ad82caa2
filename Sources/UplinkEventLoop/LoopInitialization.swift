// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc

extension UnsafeMutablePointer<uv_loop_t> {
    /// Initializes the loop with `uv_loop_init`, and returns its status.
    ///
    /// If libuv runs out of descriptors midway, it leaves the first one, that of epoll, open; it is closed here.
    func initializeLoop() -> CInt {
        let status = uv_loop_init(self)
        // It is 0 until libuv has set it.
        if status != 0, pointee.backend_fd > 0 { close(pointee.backend_fd) }
        return status
    }
}
