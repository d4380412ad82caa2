// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import HTTPTypes
import UplinkHTTP

extension EasyHandle {
    /// How many bytes libcurl is likely to bring right after a piece: after the last piece of a full read it reads
    /// again. If it is paused in the middle of a read, it copies the rest.
    func bytes(behind piece: Int) -> Int { piece == readSize % Int(CURL_MAX_WRITE_SIZE) ? readSize : 0 }

    /// Sets what is the same for all transfers of a transport. An error is in ``firstError``.
    func prepare(_ settings: EngineSettings, in generation: Generation, share: UnsafeMutableRawPointer) {
        set(CURLOPT_SHARE, pointer: share)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))  // HTTP/2 truncates silently before libcurl 8
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        set(CURLOPT_HTTP09_ALLOWED, 0)
        readSize = settings.readSize
        set(CURLOPT_BUFFERSIZE, readSize)
        setCallbacks(for: generation)
        setSecurity(settings)
        setConnection(settings.configuration)
        isPrepared = true
    }

    /// Sets what a transfer needs in addition. An error is in ``firstError``.
    func configure(for transfer: CurlTransfer, _ configuration: CurlTransport.Configuration) {
        self.transfer = .passUnretained(transfer)
        guardFirstField()
        setURL(transfer.url, through: transfer.proxy)
        setBody(of: transfer)
        setFields(transfer, expectsContinue: transfer.upload?.expectsContinue == true)
        setConnectTimeout(transfer.exchange.request.timeouts)
        if !configuration.resolve.isEmpty { setAddresses(for: transfer, configuration) }
        if let proxy = transfer.proxy { setProxy(proxy, for: transfer.url) }
    }

    func setFields(_ transfer: CurlTransfer, expectsContinue: Bool) {
        var lines: [String] = []
        // `Expect:` without a value makes libcurl send no such field.
        if transfer.upload != nil { lines.append(expectsContinue ? "Expect: 100-continue" : "Expect:") }
        // On a connection to a proxy, libcurl has or lacks the brackets of the host that was asked for first.
        if transfer.url.scheme == .http, transfer.proxy?.kind.forwards == true {
            lines.append("Host: \(transfer.url.authority)")
        }
        setFields(transfer.exchange.request.fields, and: lines)
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func isSame(as other: Self) -> Bool {
        guard let one = baseAddress, let two = other.baseAddress else { return count == other.count }
        return count == other.count && memcmp(one, two, count) == 0
    }
}

extension HTTPFields {
    /// These fields with all cookies in one, as in HTTP/1.1 (RFC 6265, section 5.4): `HTTPFields` splits a value set by
    /// name into several fields, as in HTTP/2.
    var withOneCookie: HTTPFields {
        let cookies = self[fields: .cookie].map { $0.withUnsafeBytesOfValue(Array.init) }
        guard cookies.count > 1, let place = firstIndex(where: { $0.name == .cookie }) else { return self }
        var fields = self
        fields[place] = HTTPField(name: self[place].name, lenientValue: Array(cookies.joined(separator: "; ".utf8)))
        var isFirst = true
        fields.removeAll { field in
            guard field.name == .cookie else { return false }
            defer { isFirst = false }
            return !isFirst
        }
        return fields
    }

    /// Whether they make the same lines in the same order; `==` is less strict.
    func areWritten(like other: HTTPFields) -> Bool {
        guard count == other.count else { return false }
        for place in indices {
            let (one, two) = (self[place], other[place])
            guard one.name.rawName == two.name.rawName else { return false }
            let isSame = one.withUnsafeBytesOfValue { one in two.withUnsafeBytesOfValue { one.isSame(as: $0) } }
            guard isSame else { return false }
        }
        return true
    }
}
