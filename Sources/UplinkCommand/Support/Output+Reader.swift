// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Output {
    /// Yields once when the reader of this pipe or socket has gone, even if nothing is written meanwhile.
    ///
    /// A thread sleeps in poll(2) for that, because libuv would make the descriptor non-blocking for everyone who
    /// shares it.
    var readerLeft: AsyncStream<Void> {
        AsyncStream { continuation in
            var status = stat()
            let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
            guard kind == S_IFIFO || kind == S_IFSOCK else { return }  // a file or a terminal has no reader that can go
            Thread.detachNewThread { [descriptor] in
                var entry = pollfd(fd: descriptor, events: 0, revents: 0)
                while poll(&entry, 1, -1) < 0, errno == EINTR {}
                continuation.yield()
                continuation.finish()
            }
        }
    }
}
