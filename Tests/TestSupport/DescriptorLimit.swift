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
