// SPDX-License-Identifier: Apache-2.0
import CUplink
import Uplink

extension DownloadProgress {
    /// Passes the progress as a C structure, for the duration of a callback.
    func withStructure(_ body: (UnsafePointer<uplink_download_progress>) -> Void) {
        Advice.inC(trouble ?? "").withCString { text in
            var progress = uplink_download_progress(
                size: MemoryLayout<uplink_download_progress>.size, phase: phase.number,
                attempt: UInt32(clamping: attempt), resumptions: UInt32(clamping: resumptions),
                restarts: UInt32(clamping: restarts), received: receivedBytes, total: totalBytes ?? -1,
                bytes_per_second: bytesPerSecond.isFinite ? Int64(min(max(bytesPerSecond, 0), 1e18)) : 0,
                left_milliseconds: timeLeft.milliseconds,
                remaining_milliseconds: remaining.milliseconds, pause_milliseconds: pause.milliseconds,
                trouble: trouble == nil ? nil : text)
            body(&progress)
        }
    }
}

extension Duration? {
    /// The duration in milliseconds; -1 for nil.
    fileprivate var milliseconds: Int64 {
        guard let (seconds, attoseconds) = self?.components else { return -1 }
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : max(0, whole + attoseconds / 1_000_000_000_000_000)
    }
}

extension DownloadProgress.Phase {
    /// The phase as an `uplink_download_phase`.
    fileprivate var number: CInt {
        switch self {
        case .preparing: CInt(UPLINK_DOWNLOAD_PREPARING.rawValue)
        case .waitingForNetwork: CInt(UPLINK_DOWNLOAD_WAITING.rawValue)
        case .connecting: CInt(UPLINK_DOWNLOAD_CONNECTING.rawValue)
        case .resuming: CInt(UPLINK_DOWNLOAD_RESUMING.rawValue)
        case .receiving: CInt(UPLINK_DOWNLOAD_RECEIVING.rawValue)
        case .pausing: CInt(UPLINK_DOWNLOAD_PAUSING.rawValue)
        case .verifying: CInt(UPLINK_DOWNLOAD_VERIFYING.rawValue)
        case .finished: CInt(UPLINK_DOWNLOAD_FINISHED.rawValue)
        case .failed: CInt(UPLINK_DOWNLOAD_FAILED.rawValue)
        }
    }
}
