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

    /// Since 8.21 the system's directory of authorities, if there is one, counts beside any file unless another
    /// directory is set.
    static let addsAuthorityDirectory =
        version >= 0x081500 && curl_version_info(uplink_version_now)?.pointee.capath != nil

    /// Whether its TLS is OpenSSL's, which it lets others set up.
    static let hasOpenSSL =
        curl_version_info(uplink_version_now)?.pointee.ssl_version.map { String(cString: $0).hasPrefix("OpenSSL/") }
        ?? false

    /// Before 8.4 the timers that start the next address are lost in event mode (curl pull request 11920).
    static var needsConnectNudge: Bool { version < 0x080400 }

    /// Before 8.1 a handle that had an answer remembers where its last field was, which has been freed when the handle
    /// is used again. If the next answer's first field is folded, libcurl appends it there (curl pull request 11103):
    /// any server could crash the process.
    static var appendsToFreedFields: Bool { version < 0x080100 }

    /// Before 8.8 percent signs in a proxy's credentials are decoded, though they are not parts of a URL.
    static var decodesProxyCredentials: Bool { version < 0x080800 }

    /// Since 8.8 what is sent is not always the URL's own text: an empty query is dropped (until 8.20), and what is
    /// percent-encoded is written in capitals (since 8.20).
    static var rewritesTargets: Bool { version >= 0x080800 }

    /// QUICK_EXIT, which keeps a cancelled name lookup from blocking the loop, came with 7.87.
    static var isRecentEnough: Bool { version >= 0x075700 }
}
