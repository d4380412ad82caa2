// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Waits for a condition that another task or program brings about, and that cannot be awaited directly.
///
/// ```swift
/// try await eventually("two elements are recorded") { recorder.words.count == 2 }
/// ```
///
/// It checks immediately, then each time other tasks have had a turn, and later every 5 ms of real time, whatever clock
/// the test uses.
///
/// - Parameters:
///   - limit: How long to wait, in real time.
///   - expectation: What is waited for, for the error.
///   - isSo: Checks the condition; must not take long.
/// - Throws: ``WaitedInVain`` after `limit`; `CancellationError` when the test is cancelled; what `isSo` throws.
public nonisolated(nonsending) func eventually(
    within limit: Duration = .seconds(20), _ expectation: @autoclosure () -> String = "what the test expects",
    _ isSo: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit.clamped
    var looks = 0
    while try await !isSo() {
        guard ContinuousClock.now < deadline else { throw WaitedInVain(expectation: expectation(), limit: limit) }
        try Task.checkCancellation()
        looks += 1
        if looks < 500 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(5)) }
    }
}

/// What a test waited for did not happen in time.
public struct WaitedInVain: Error, Sendable, CustomStringConvertible {
    /// What was waited for.
    public let expectation: String
    /// For how long.
    public let limit: Duration
    /// What was waited for, and for how long.
    public var description: String { "waited \(limit) in vain for: \(expectation)" }
}
