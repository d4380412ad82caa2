// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A failed system call on a netlink socket, or a missing answer.
package struct NetlinkError: Error, Equatable {
    /// The call, such as `socket`.
    package let call: String
    /// Its error number (`errno(3)`).
    package let errno: CInt

    package init(call: String, errno: CInt) { (self.call, self.errno) = (call, errno) }
}

extension NetlinkError: CustomStringConvertible {
    package var description: String { "\(call): \(String(cString: strerror(errno)))" }

    /// Whether a sandbox or the kernel's configuration forbids the call, as opposed to a lack of resources.
    var isRefusal: Bool {
        [EAFNOSUPPORT, EPERM, EACCES, EPROTONOSUPPORT, ENOSYS, EOPNOTSUPP, ENOPROTOOPT].contains(errno)
    }
}
