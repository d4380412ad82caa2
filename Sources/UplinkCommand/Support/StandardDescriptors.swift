// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The descriptors 0, 1 and 2, of which a program may be started without some (`2>&-`).
enum StandardDescriptors {
    /// Holds the numbers of those that are closed, so that no file, socket or database gets one and is read or written in
    /// its place. To read or write them stays an error; what this process becomes has them closed again.
    static func hold() {
        let others = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        for (descriptor, mode) in others where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", mode | O_CLOEXEC)  // the lowest number that is free, and so this one
        }
    }
}
