// SPDX-License-Identifier: Apache-2.0

/// Measures how fast bytes come, over the last few seconds: pure.
struct RateMeter: Sendable {
    private struct Sample {
        var time: Duration
        var bytes: Int64
    }

    /// The samples, the oldest first, at least a spacing apart.
    private var samples: [Sample] = []
    private var bytes: Int64 = 0

    static let window = Duration.seconds(5)
    private static let spacing = Duration.milliseconds(250)

    /// Starts when bytes begin to come, after a time in which they did not.
    mutating func start(at now: Duration) {
        samples = [Sample(time: now, bytes: 0)]
        bytes = 0
    }

    mutating func add(_ count: Int, at now: Duration) {
        bytes += Int64(count)
        guard let last = samples.last, now - last.time >= Self.spacing else { return }
        samples.append(Sample(time: now, bytes: bytes))
        // One sample may be older than the window, so that there is one at its beginning.
        while samples.count > 2, now - samples[1].time >= Self.window { samples.removeFirst() }
    }

    /// The bytes per second. While none come, the rate falls.
    func rate(at now: Duration) -> Double {
        guard let last = samples.last, now - last.time <= Self.window,
            let first = samples.first(where: { now - $0.time <= Self.window })
        else { return 0 }
        let seconds = (now - first.time) / .seconds(1)
        return seconds > 0.05 ? Double(bytes - first.bytes) / seconds : 0
    }
}
