// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Shows on a terminal that a command is waiting for the network, once it has done so for half a second.
enum WaitingNote {
    private static let patience = Duration.milliseconds(500)

    /// Runs `body`, which calls its argument when the network is there.
    static func show(
        for requirement: NetworkRequirement, isWanted: Bool = true,
        _ body: (_ whenThere: @escaping @Sendable () -> Void) async throws -> Void
    ) async throws {
        let isWaiting = Locked(true)
        let note = Task {
            try await Task.sleep(for: patience)
            guard isWanted, Output.error.isTerminal, isWaiting.withLock({ $0 }) else { return }
            try Output.error.write("Waiting for the network (\(requirement)) …\n")
        }
        defer { note.cancel() }
        try await body { isWaiting.withLock { $0 = false } }
    }
}
