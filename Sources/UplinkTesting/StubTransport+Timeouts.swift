// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkHTTP

/// The timeouts of a request that a stub keeps on the test's clock while an answer lets it wait.
struct StubTimeouts: Sendable {
    private let clock: ElapsedClock
    private let firstByte: Duration?
    private let stall: Duration?
    /// When the total timeout passes.
    private var end: Duration?

    /// The total begins now.
    init(_ timeouts: HTTPTimeouts, on clock: ElapsedClock) {
        self.clock = clock
        (firstByte, stall) = (timeouts.firstByte, timeouts.stall)
        if let total = timeouts.total { limit(toRemaining: total) }
    }

    /// Moves the end of the total forward to this much later than now.
    mutating func limit(toRemaining total: Duration) {
        let end = clock.now() + total.clamped
        self.end = min(self.end ?? end, end)
    }

    /// - Throws: The error of a total that has passed while nobody waited.
    func check() throws { if let end, end <= clock.now() { throw Self.error(.totalTimeout, .body) } }

    /// Awaits an answer's head.
    func head(_ work: @escaping @Sendable () async throws -> Void) async throws {
        try await wait(for: firstByte, .firstByteTimeout, .firstByte, work)
    }

    /// Awaits the next piece of a body.
    func piece(_ work: @escaping @Sendable () async throws -> Void) async throws {
        try await wait(for: stall, .stallTimeout, .body, work)
    }

    private func wait(
        for limit: Duration?, _ code: HTTPClientError.Code, _ phase: HTTPClientError.Phase,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let left = end.map { $0 - clock.now() }
        guard let shortest = [limit, left].compactMap({ $0 }).min() else { return try await work() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work() }
            group.addTask(name: "a stub's timeout") { [clock] in
                try await clock.sleep(for: shortest)
                throw Self.error(shortest == left ? .totalTimeout : code, phase)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private static func error(_ code: HTTPClientError.Code, _ phase: HTTPClientError.Phase) -> HTTPClientError {
        HTTPClientError(
            code, phase: phase, requestDisposition: phase == .body ? .responseStarted : .maybeProcessed,
            message: "the stub's answer took longer than the request's timeout")
    }
}
