// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// What the machine needs of the options.
struct DownloadLimits: Sendable {
    var expectedSize: Int64?
    var maximumSize: Int64
    var maximumRestarts: Int
    /// Whether a body without a known end is accepted.
    var acceptsUnframed: Bool
    var backOff: DownloadBackOff

    init(_ options: DownloadOptions) {
        expectedSize = options.expectedSize
        maximumSize = options.maximumSize
        maximumRestarts = options.maximumRestarts
        acceptsUnframed =
            options.acceptsUnframedBodies || options.expectedSize != nil || options.checksum?.expected != nil
        backOff = options.backOff
    }

    /// The error if a file of this size is not wanted; nil if it is.
    func objection(to size: Int64) -> DownloadError? {
        if let expectedSize, size != expectedSize {
            return DownloadError(
                .sizeMismatch,
                message: "the file has \(size) bytes, not \(expectedSize); the server has another version, or the "
                    + "expected size is wrong")
        }
        guard size > maximumSize else { return nil }
        return DownloadError(
            .tooLarge, message: "the file has \(size) bytes, more than the \(maximumSize) allowed; raise `maximumSize`")
    }
}

extension DownloadBackOff {
    /// The pause after this many failures in a row: between half and all of what the doubling gives, and never more
    /// than half of the time left. But it is no shorter than half of the initial pause: with less time than that left,
    /// no attempt follows.
    func pause(after failures: Int, remaining: Duration?) -> Duration {
        let pause = ExponentialBackoff(initial: initialPause, maximum: maximumPause, jitter: 0.5)
            .pause(after: failures, chance: random())
        guard let remaining else { return pause }
        return min(pause, max(remaining / 2, min(initialPause / 2, remaining)))
    }
}
