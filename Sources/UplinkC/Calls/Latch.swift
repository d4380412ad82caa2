// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A latch that blocks a thread of the C program until it is opened (sem_init(3)).
final class Latch: @unchecked Sendable {  // sem_t is made to be shared
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }
}
