// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Output {
    /// Yields once when whoever reads this pipe or socket has gone, though nothing was written meanwhile.
    ///
    /// A thread sleeps in poll(2) for it: libuv would make the descriptor non-blocking for those who share it.
    var readerLeft: AsyncStream<Void> {
        AsyncStream { continuation in
            var status = stat()
            let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
            guard kind == S_IFIFO || kind == S_IFSOCK else { return }  // a file or a terminal has no such end
            Thread.detachNewThread { [descriptor] in
                var entry = pollfd(fd: descriptor, events: 0, revents: 0)
                while poll(&entry, 1, -1) < 0, errno == EINTR {}
                continuation.yield()
                continuation.finish()
            }
        }
    }
}
