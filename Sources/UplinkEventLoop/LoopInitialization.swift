// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc

extension UnsafeMutablePointer<uv_loop_t> {
    /// Initializes it by `uv_loop_init`, whose status is returned.
    ///
    /// When libuv finds no descriptors for the rest, it leaves the first one open, that of epoll.
    func initializeLoop() -> CInt {
        let status = uv_loop_init(self)
        // 0 is what it is before libuv has come as far as to set it.
        if status != 0, pointee.backend_fd > 0 { close(pointee.backend_fd) }
        return status
    }
}
