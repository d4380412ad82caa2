// SPDX-License-Identifier: Apache-2.0
import UplinkCore

extension NetworkMonitor {
    /// Whether a requirement is met: as soon as it is known, and at every new path. Ends when cancelled, and when the
    /// monitor fails.
    func changes(of requirement: NetworkRequirement) -> AsyncStream<Bool> {
        AsyncStream { continuation in
            let task = Task {
                do {
                    for try await path in paths { continuation.yield(requirement.isSatisfied(by: path)) }
                } catch {}
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
