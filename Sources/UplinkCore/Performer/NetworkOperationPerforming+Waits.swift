// SPDX-License-Identifier: Apache-2.0

extension NetworkOperationPerforming {
    /// Performs the operation, and tells before that if the network has to be waited for.
    ///
    /// The performer is first asked with a limit of zero, and then, if the network is not there, with `seconds`.
    ///
    /// - Parameter waits: Called if the network is not there; not if only a free slot is missing, because too many
    ///   operations run.
    package nonisolated(nonsending) func perform<Value, Failure: Error>(
        withinSeconds seconds: Double, requiring requirement: NetworkRequirement, waits: () -> Void,
        operation: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async -> Result<Value, PerformFailure<Failure>> {
        let atOnce = await perform(withinSeconds: 0, requiring: requirement, operation: operation)
        guard seconds > 0, case .failure(.notStarted(let error)) = atOnce, error.code == .timedOut else {
            return atOnce
        }
        if error.missing != .slot { waits() }
        return await perform(withinSeconds: seconds, requiring: requirement, operation: operation)
    }
}
