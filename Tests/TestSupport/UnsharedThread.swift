// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Does blocking work on a thread that shares neither its working directory nor its umask with the process's other
/// threads (unshare(2), `CLONE_FS`), so that the work may set them while other tests run.
package nonisolated(nonsending) func onUnsharedThread<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await offPool {
        // Swift's Glibc module has no sched.h with GNU's extensions.
        let unshare = dlsym(nil, "unshare").map { unsafeBitCast($0, to: (@convention(c) (CInt) -> CInt).self) }
        let fileSystem: CInt = 0x200
        guard unshare?(fileSystem) == 0 else { throw SetupFailure(activity: "unshare(2)", errno: errno) }
        return try work()
    }
}
