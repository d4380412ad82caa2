// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import HTTPTypes
import SystemPackage
import UplinkCore
import UplinkHTTP

/// An easy handle, with everything that must live as long as it does: lists and the error buffer. It is for one
/// transfer at a time.
final class EasyHandle {
    let curl: UnsafeMutableRawPointer
    /// The transfer that it is for, which owns the handle for that time.
    var transfer: Unmanaged<CurlTransfer>?
    private let errorText: UnsafeMutablePointer<CChar>
    @exclusivity(unchecked) private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private(set) var firstError = CURLE_OK
    /// Whether the settings common to all transfers have been made.
    var isPrepared = false
    /// Whether something has been set that the next transfer must not inherit.
    var isParticular = false
    /// Whether libcurl has allocated a buffer for a body, which the handle would keep, or has a custom method.
    var isForOneTransfer = false
    @exclusivity(unchecked) private var current = Settings()
    /// The current URL, parsed.
    private let parts: OpaquePointer?

    /// The settings that may differ for each transfer, as libcurl has them; at first, those of a new handle.
    private struct Settings {
        var isHead = false
        var isFreshConnection = false
        var isTelling = false
        var showsHead = false
        var connectTimeout = 0
        var url: String?
        /// The fields from which ``lists`` was made, and nothing else, if the next transfer may send the same.
        var keptFields: RequestFields?
    }

    /// The most bytes of fields that are kept.
    private static let keptBytes = 4096
    /// How many bytes libcurl reads from a socket in one call.
    var readSize = 0

    init?() {
        guard let curl = curl_easy_init() else { return nil }
        self.curl = curl
        parts = curl_url()
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        set(CURLOPT_ERRORBUFFER, pointer: errorText)
    }

    /// Makes the handle ready for another transfer. It must have left the multi.
    ///
    /// - Returns: Whether that is possible.
    func finishTransfer() -> Bool {
        if isParticular { reset() }
        setTelling(false)
        if current.keptFields == nil { freeLists() }
        return firstError == CURLE_OK
    }

    /// Makes the handle as good as new, except for its share.
    private func reset() {
        curl_easy_reset(curl)
        firstError = CURLE_OK
        (isPrepared, isParticular) = (false, false)
        current = Settings()
        set(CURLOPT_ERRORBUFFER, pointer: errorText)
    }

    private func freeLists() {
        for list in lists { curl_slist_free_all(list) }
        lists.removeAll(keepingCapacity: true)
    }

    /// Only after the handle has left the multi; the URL, the lists and the buffer are freed last.
    deinit {
        curl_easy_cleanup(curl)
        curl_url_cleanup(parts)
        freeLists()
        errorText.deallocate()
    }

    /// What libcurl said about the failure. It may quote the server.
    var text: String { HTTPFields.printable(String(cString: errorText), atMost: .max) }

    func set(_ option: CURLoption, _ value: Int) { note(uplink_easy_set_long(curl, option, value)) }

    func set(_ option: CURLoption, _ value: String) {
        note(value.withCString { uplink_easy_set_string(curl, option, $0) })
    }

    /// Sets a path as it is, even if it is not UTF-8.
    func set(_ option: CURLoption, _ path: FilePath) {
        note(path.withPlatformString { uplink_easy_set_string(curl, option, $0) })
    }

    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
        note(uplink_easy_set_pointer(curl, option, pointer))
    }

    func set(_ option: CURLoption, list strings: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for string in strings {
            guard string.withCString({ append($0, to: &list) }) else { return }
        }
        set(option, list)
    }

    private func set(_ option: CURLoption, _ list: UnsafeMutablePointer<curl_slist>?) {
        if let list { lists.append(list) }
        note(uplink_easy_set_list(curl, option, list))
    }

    /// Appends a line to a list, or frees the list if there is no memory left.
    private func append(_ line: UnsafePointer<CChar>?, to list: inout UnsafeMutablePointer<curl_slist>?) -> Bool {
        guard let longer = curl_slist_append(list, line) else {
            curl_slist_free_all(list)
            note(CURLE_OUT_OF_MEMORY)
            return false
        }
        list = longer
        return true
    }

    /// Sets the URL, as text and parsed: from the text alone libcurl would parse it for each transfer, and build
    /// another text from the result.
    func setURL(_ newURL: HTTPURL, through proxy: CurlTransport.Proxy?) {
        let url = newURL.textWithoutFragment
        guard url != current.url else { return }
        current.url = url
        set(CURLOPT_URL, url)
        if LibCurl.rewritesTargets {
            let isForProxy = newURL.scheme == .http && proxy?.kind.forwards == true
            set(CURLOPT_REQUEST_TARGET, isForProxy ? url : newURL.target)
        }
        let flags = CUnsignedInt(CURLU_PATH_AS_IS | CURLU_DISALLOW_USER)
        let isRead = url.withCString { curl_url_set(parts, CURLUPART_URL, $0, flags) } == CURLUE_OK
        // If the URL cannot be parsed, libcurl reports what is wrong with it when it performs the transfer.
        set(CURLOPT_CURLU, pointer: isRead ? parts.map { UnsafeMutableRawPointer($0) } : nil)
    }

    /// Sets HEAD, or GET if nothing else is set.
    func setHead(_ isHead: Bool) {
        guard isHead != current.isHead else { return }
        current.isHead = isHead
        set(isHead ? CURLOPT_NOBODY : CURLOPT_HTTPGET, 1)
    }

    func setFreshConnection(_ isFresh: Bool) {
        guard isFresh != current.isFreshConnection else { return }
        current.isFreshConnection = isFresh
        set(CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
    }

    /// Makes libcurl log what it does (`CURLOPT_DEBUGFUNCTION`). May be called while the transfer runs.
    func setTelling(_ tells: Bool) {
        guard tells != current.isTelling else { return }
        current.isTelling = tells
        set(CURLOPT_VERBOSE, tells ? 1 : 0)
    }

    /// Whether the write callback also gets the lines of a head, before libcurl takes them (`CURLOPT_HEADER`).
    var showsHead: Bool { current.showsHead }

    /// To be called before the handle is added to a multi: what libcurl remembers of its last answer is freed then.
    func guardFirstField() {
        if LibCurl.appendsToFreedFields { setShowsHead(true) }
    }

    /// May be called while the transfer runs, also in its callbacks.
    func setShowsHead(_ shows: Bool) {
        guard shows != current.showsHead else { return }
        current.showsHead = shows
        set(CURLOPT_HEADER, shows ? 1 : 0)
    }

    /// Makes libcurl close the connection after the transfer. May be called while it runs, also in its callbacks.
    func forbidReuse() {
        isParticular = true
        set(CURLOPT_FORBID_REUSE, 1)
    }

    /// - Parameter milliseconds: The timeout; 0 is libcurl's default.
    func setConnectTimeout(_ milliseconds: Int) {
        guard milliseconds != current.connectTimeout else { return }
        current.connectTimeout = milliseconds
        set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
    }

    /// Sets the fields that go out, and lines in addition to the caller's fields.
    ///
    /// Without such lines they are kept, so that a next transfer with the same fields need not set them.
    func setFields(_ fields: RequestFields, and lines: [String]) {
        if let keptFields = current.keptFields {
            if lines.isEmpty, keptFields === fields || keptFields.all.areWritten(like: fields.all) { return }
            current.keptFields = nil
            freeLists()
        }
        var list: UnsafeMutablePointer<curl_slist>?
        var text: [UInt8] = []
        text.reserveCapacity(256)
        var count = 0
        for field in fields.all.withOneCookie {
            text.removeAll(keepingCapacity: true)
            text.append(contentsOf: field.name.rawName.utf8)
            field.withUnsafeBytesOfValue { value in  // it need not be UTF-8
                // libcurl spells an empty value `Name;`. A value of only blanks would keep the field from being sent,
                // which is what an empty `Accept` is for.
                let isBlank = value.allSatisfy { $0 == 0x20 || $0 == 0x09 }
                text.append(contentsOf: (isBlank && field.name != .accept ? ";" : ": ").utf8)
                if !isBlank { text.append(contentsOf: value) }
            }
            count += text.count
            text.append(0)
            let isAppended = text.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { append($0.baseAddress, to: &list) }
            }
            guard isAppended else { return }
        }
        for line in lines {
            guard line.withCString({ append($0, to: &list) }) else { return }
        }
        set(CURLOPT_HTTPHEADER, list)
        if lines.isEmpty, count <= Self.keptBytes { current.keptFields = fields }
    }

    func note(_ code: CURLcode) { if firstError == CURLE_OK { firstError = code } }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return uplink_easy_get_long(curl, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value = curl_off_t(0)
        return uplink_easy_get_offset(curl, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    /// The socket of the transfer's last connection; negative when that is closed. libcurl searches all connections for
    /// it.
    var socket: curl_socket_t {
        var socket: curl_socket_t = -1
        return uplink_easy_get_socket(curl, &socket) == CURLE_OK ? socket : -1
    }

    /// Whether OpenSSL has decrypted more than libcurl has read. Only while the transfer runs.
    var hasMoreFromTLS: Bool { uplink_easy_tls_pending(curl) > 0 }

    /// Whether an earlier TLS session was resumed; nil if that is not known. Only while the transfer runs.
    var isTLSResumed: Bool? {
        let answer = uplink_easy_is_tls_resumed(curl)
        return answer < 0 ? nil : answer > 0
    }
}
