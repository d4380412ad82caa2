// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// What a download is doing, as published to readers: pure.
struct DownloadStory: Sendable {
    private var phase = DownloadProgress.Phase.preparing
    private var progress = DownloadProgress()
    private var meter = RateMeter()
    private var pauseEnd: Duration?
    private var trouble: String?
    /// What the network lacks, while it lacks something.
    private var networkTrouble: String?
    private var lastPost: Duration?
    /// The highest attempt that was told; it may have had to wait for the network after all.
    private var announced = 0
    private let deadline: Duration?

    /// Changes of the byte counts alone are published no more often than this.
    static let interval = Duration.milliseconds(100)

    init(deadline: Duration?) { self.deadline = deadline }

    /// Records that the download enters another phase.
    mutating func enter(_ phase: DownloadProgress.Phase, at now: Duration) {
        self.phase = phase
        pauseEnd = nil
        if phase == .receiving { meter.start(at: now) }
        if phase == .finished || phase == .failed { trouble = nil }
    }

    mutating func pause(for pause: Duration, because reason: String, at now: Duration) {
        enter(.pausing, at: now)
        pauseEnd = now + pause
        trouble = reason
    }

    /// Records that an attempt ended without all bytes.
    mutating func stumble(because reason: String) { trouble = reason }

    /// Records what the network lacks. True when that is to be published.
    mutating func sees(lacking: String?) -> Bool {
        defer { networkTrouble = lacking }
        return networkTrouble != lacking
    }

    /// Records the machine's numbers.
    mutating func count(_ machine: DownloadMachine) {
        progress.receivedBytes = machine.received
        progress.totalBytes = machine.version?.length ?? machine.limits.expectedSize
        progress.attempt = machine.attempts
        progress.resumptions = machine.resumptions
        progress.restarts = machine.restarts
    }

    /// Records that bytes have come. True when that is to be published.
    mutating func receive(_ count: Int, at now: Duration) -> Bool {
        trouble = nil
        meter.add(count, at: now)
        return lastPost.map { now - $0 >= Self.interval } ?? true
    }

    /// The progress at this moment, to be published.
    mutating func post(at now: Duration) -> DownloadProgress {
        lastPost = now
        let snapshot = snapshot(at: now)
        announced = max(announced, snapshot.attempt)
        return snapshot
    }

    /// The progress at this moment.
    func snapshot(at now: Duration) -> DownloadProgress {
        var snapshot = progress
        snapshot.phase = phase
        snapshot.remaining = deadline.map { max(.zero, $0 - now) }
        snapshot.pause = pauseEnd.map { max(.zero, $0 - now) }
        snapshot.trouble = trouble
        switch phase {
        case .receiving:
            snapshot.bytesPerSecond = meter.rate(at: now)
            snapshot.timeLeft = timeLeft(
                of: snapshot.totalBytes, received: snapshot.receivedBytes, bytesPerSecond: snapshot.bytesPerSecond)
        case .waitingForNetwork:
            if let networkTrouble {
                snapshot.trouble = networkTrouble
                snapshot.attempt = max(snapshot.attempt, announced)
            } else {
                // Nothing is known to be wrong: the attempt is about to begin.
                snapshot.phase = snapshot.receivedBytes > 0 ? .resuming : .connecting
                snapshot.attempt += 1
            }
        case .preparing, .pausing, .connecting, .resuming, .verifying, .finished, .failed: break
        }
        return snapshot
    }
}
