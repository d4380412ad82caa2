// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// Sets how many descriptors the process may have, and returns how many that was before. For processes of a test's own.
package func setDescriptorLimit(_ count: rlim_t) -> rlim_t {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    getrlimit(resource, &limit)
    defer {
        limit.rlim_cur = count
        setrlimit(resource, &limit)
    }
    return limit.rlim_cur
}

/// Makes libdispatch open what it keeps: it has a descriptor for each kind of clock, from that clock's first timer on.
package func openTimersOfDispatch() async throws {
    try await Task.sleep(nanoseconds: 1_000_000)
    try await Task.sleep(for: .milliseconds(1), clock: .continuous)
    try await Task.sleep(for: .milliseconds(1), clock: .suspending)
}
