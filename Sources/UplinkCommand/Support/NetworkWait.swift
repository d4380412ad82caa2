// SPDX-License-Identifier: Apache-2.0
import Uplink

/// Waits for the network through the performer, with an operation that does nothing.
enum NetworkWait {
    /// Waits until the requirement is met or the time is up.
    ///
    /// - Throws: `ExitCode` when a signal asks the program to end.
    static func wait(
        for argument: RequirementArgument, seconds: Double, _ polling: PollArguments
    ) async throws -> Result<Void, NetworkOperationError> {
        try await untilInterrupted {
            let monitor = try argument.monitor(polling.configuration())
            let performer = NetworkOperationPerformer(monitor: monitor, clock: LoopClock.shared)
            switch await performer.perform(withinSeconds: seconds, requiring: argument.whole, operation: {}) {
            case .success: return .success(())
            case .failure(.notStarted(let error)): return .failure(error)
            }
        }
    }
}
