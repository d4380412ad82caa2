// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Counts requests by outcome: a recorder whose result is easy to read.
///
/// ```swift
/// let counters = HTTPCounters()
/// configuration.middlewares = [.metrics(to: counters)]
/// print(counters)  // 12 requests, 3 sent again, 48210 bytes received; 200: 9, 503: 2, connectTimeout: 1
/// ```
public final class HTTPCounters: HTTPMetricsRecorder, CustomStringConvertible {
    /// The counts.
    public struct Counts: Sendable, Hashable {
        /// Requests that have ended.
        public internal(set) var requests = 0
        /// How many times requests were sent again.
        public internal(set) var repeats = 0
        /// Bytes of request bodies sent, as far as the transport reports them.
        public internal(set) var sentBytes: Int64 = 0
        /// Bytes of response bodies received, as far as the transport reports them.
        public internal(set) var receivedBytes: Int64 = 0
        /// The sum of the requests' durations.
        public internal(set) var total = Duration.zero
        /// Requests by ``HTTPMetrics/label``.
        public internal(set) var outcomes: [String: Int] = [:]
    }

    private let state = Locked(Counts())

    /// Counts from zero.
    public init() {}

    /// The counts so far.
    public var counts: Counts { state.withLock { $0 } }

    /// Counts a request.
    public func record(_ metrics: HTTPMetrics) {
        state.withLock { counts in
            counts.requests += 1
            counts.repeats += max(0, metrics.exchanges - 1)
            counts.sentBytes += metrics.timings.sentBytes
            counts.receivedBytes += metrics.timings.receivedBytes
            counts.total += metrics.timings.total
            counts.outcomes[metrics.label, default: 0] += 1
        }
    }

    /// One line of text.
    public var description: String {
        let counts = counts
        let outcomes = counts.outcomes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "\(counts.requests) requests, \(counts.repeats) sent again, \(counts.receivedBytes) bytes received"
            + (outcomes.isEmpty ? "" : "; \(outcomes.joined(separator: ", "))")
    }
}
