// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing
import Uplink

/// What happens when the process has used up its descriptors before its first use of Uplink; in processes of their own.
@Suite(.timeLimit(.minutes(1)))
struct ExhaustionTests {
    @Test func withoutDescriptorsAPerformerSaysWhyAndDoesNotTrap() async throws {
        await #expect(processExitsWith: .success) {
            // libdispatch, which carries Swift's tasks, kills a process in which its manager finds no descriptor
            // (`_dispatch_epoll_init`). It starts with the first timer, and each clock's has a descriptor of its own.
            try await Task.sleep(for: .milliseconds(1), clock: .continuous)
            try await Task.sleep(for: .milliseconds(1), clock: .suspending)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = 0
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let result = await NetworkOperationPerformer().perform(withinSeconds: 0.1) {}
            guard case .failure(.notStarted(let error)) = result, error.code == .monitorFailed,
                error.message.contains("ulimit -n")
            else { exit(1) }
        }
    }
}
