// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How often fork(2) has made this process of another one, counted by pthread_atfork(3): to ask for the process's number
/// is a system call, and would be one for each request; and in another namespace a child may have its parent's.
package enum ForkCount {
    /// The count. Whoever keeps it knows later whether it is in the same process.
    package static var current: Int { count.pointee }

    private nonisolated(unsafe) static let count: UnsafeMutablePointer<Int> = {  // a new process writes, still alone
        let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        count.initialize(to: 0)
        pthread_atfork(nil, nil) { ForkCount.count.pointee += 1 }
        return count
    }()
}
