// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many forks led to this process, counted with pthread_atfork(3). Comparing process ids instead would cost a
/// system call per request, and a child in another PID namespace may have its parent's id.
package enum ForkCount {
    /// The count. Code that keeps it can tell later whether it is still in the same process.
    package static var current: Int { count.pointee }

    private nonisolated(unsafe) static let count: UnsafeMutablePointer<Int> = {  // the child writes, single-threaded
        let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        count.initialize(to: 0)
        pthread_atfork(nil, nil) { ForkCount.count.pointee += 1 }
        return count
    }()
}
