// SPDX-License-Identifier: Apache-2.0
import CLibCurl

/// The libcurl that this process runs with.
enum LibCurl {
    /// Initialises libcurl, once; it is never cleaned up, because others in the process may use it.
    static let isReady: Bool = curl_global_init(uplink_global_default) == CURLE_OK

    /// The version at run time, as `0xXXYYZZ`; that of the headers does not matter.
    static let version: UInt32 = curl_version_info(uplink_version_now)?.pointee.version_num ?? 0

    /// Whether the system's authorities are in one file (Debian also has them in a directory).
    static let hasAuthorityFile = curl_version_info(uplink_version_now)?.pointee.cainfo != nil

    /// Before 8.4 the timers that start the next address are lost in event mode (curl pull request 11920).
    static var needsConnectNudge: Bool { version < 0x080400 }

    /// QUICK_EXIT, which keeps a cancelled name lookup from blocking the loop, came with 7.87.
    static var isRecentEnough: Bool { version >= 0x075700 }
}
