// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How much the random tests do, and with which numbers.
enum DownloadWorkload {
    /// Whether the large counts are wanted (`UPLINK_FULL`).
    static let isFull = getenv("UPLINK_FULL") != nil
    /// What the random numbers start from (`UPLINK_SEED`).
    static let seed =
        getenv("UPLINK_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...UInt64(UInt32.max))
}
