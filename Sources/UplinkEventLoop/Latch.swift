// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Blocks a thread until another one opens it (sem_init(3)).
package final class Latch: @unchecked Sendable {  // sem_t is made to be shared
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func open() { sem_post(semaphore) }

    package func wait() { while sem_wait(semaphore) != 0 {} }
}
