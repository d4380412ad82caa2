// SPDX-License-Identifier: Apache-2.0
#if Store
import Glibc
import SystemPackage
import UplinkCore

/// The right to run an outbox: of one process, and in it of one call (flock(2) on a file beside the database).
///
/// The kernel takes it back from a process that was killed.
final class OutboxLock: Sendable {
    private let descriptor: CInt?
    private let release: @Sendable () -> Void

    init(_ name: String, path: FilePath?, claims: Locked<Set<String>>) throws(StoreError) {
        let inUse = StoreError(
            .outboxInUse, message: "the outbox `\(name)` is run already; one process runs it, once at a time")
        guard claims.withLock({ $0.insert(name).inserted }) else { throw inUse }
        release = { _ = claims.withLock { $0.remove(name) } }
        do throws(StoreError) {
            descriptor = try path.map { path throws(StoreError) in try Self.lock(path, name, inUse) }
        } catch {
            release()
            throw error
        }
    }

    deinit {
        if let descriptor { close(descriptor) }
        release()
    }

    private static func lock(_ path: FilePath, _ name: String, _ inUse: StoreError) throws(StoreError) -> CInt {
        let number = String(UInt64(bitPattern: SyncRecord.id(of: name)), radix: 16)
        let file = "\(path.string)-outbox-\(number).lock"
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.cannotOpen, message: "\(file) cannot be made: \(String(cString: strerror(errno)))")
        }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            close(descriptor)
            throw inUse
        }
        return descriptor
    }
}
#endif
