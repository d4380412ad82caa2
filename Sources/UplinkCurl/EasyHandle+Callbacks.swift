// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import UplinkHTTP

extension EasyHandle {
    /// Callbacks, whose box is the handle: it has libcurl's, so it is there for as long.
    func setCallbacks(for generation: Generation) {
        let box = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_PRIVATE, pointer: box)
        set(CURLOPT_WRITEDATA, pointer: box)
        set(CURLOPT_HEADERDATA, pointer: box)
        set(CURLOPT_PREREQDATA, pointer: box)
        // libcurl keeps other callbacks' data with the connection, beyond the handle; this one it takes from the handle.
        set(CURLOPT_OPENSOCKETDATA, pointer: box)
        note(
            uplink_easy_set_write(curl, CURLOPT_WRITEFUNCTION) { bytes, size, count, box in
                let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return EasyHandle.withTransfer(of: box) { $0.callbackForBody(bytes) } ?? 0
            })
        note(
            uplink_easy_set_write(curl, CURLOPT_HEADERFUNCTION) { bytes, size, count, box in
                let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return EasyHandle.withTransfer(of: box) { $0.callbackForHeader(bytes) } ?? 0
            })
        note(
            uplink_easy_set_prereq(curl) { box, remote, local, remotePort, localPort in
                let goesOn = EasyHandle.withTransfer(of: box) {
                    $0.callbackForRequest((local, localPort), (remote, remotePort))
                }
                return CInt(goesOn == false ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK)
            })
        set(CURLOPT_DEBUGDATA, pointer: box)
        note(
            uplink_easy_set_debug(curl) { _, kind, text, count, box in
                let text = UnsafeRawBufferPointer(start: text, count: count)
                if kind == CURLINFO_TEXT { EasyHandle.withTransfer(of: box) { $0.toldText(text) } }
                return 0
            })
        note(
            uplink_easy_set_opensocket(curl) { box, _, address in
                guard let address else { return -1 }
                return EasyHandle.withTransfer(of: box) { $0.openSocket(address) } ?? -1
            })
        // The generation's box, which libcurl keeps with the connection, beyond the transfer.
        set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(generation).toOpaque())
        note(
            uplink_easy_set_closesocket(curl) { box, descriptor in
                Generation.lend(box) { $0.socketCloses(descriptor) }
                return close(descriptor)
            })
    }
}

extension EasyHandle {
    /// Lends the transfer of a callback's handle. Neither gets another reference, for the engine has one to each until
    /// libcurl has the handle no more, which is in no callback.
    static func withTransfer<Result>(
        of box: UnsafeMutableRawPointer?, _ body: (CurlTransfer) -> Result
    ) -> Result? {
        let transfer = box.flatMap { Unmanaged<EasyHandle>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.transfer } }
        return transfer?._withUnsafeGuaranteedRef(body)
    }

    /// The transfer of one of libcurl's handles; nil where that is libcurl's own.
    static func transfer(of curl: UnsafeMutableRawPointer) -> CurlTransfer? {
        var box: UnsafeMutableRawPointer?
        guard uplink_easy_get_pointer(curl, CURLINFO_PRIVATE, &box) == CURLE_OK else { return nil }
        return withTransfer(of: box) { $0 }
    }
}

extension CurlTransfer {
    fileprivate func callbackForBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        active.note(self)
        switch takeBody(bytes, now: Monotonic.now) {
        case .keep: return bytes.count
        case .pause: return Int(uplink_writefunc_pause)
        case .none, .enterGate, .start, .deliverHead, .resume, .end: return bytes.isEmpty ? 1 : 0  // stops libcurl
        }
    }

    /// One line; but trailers that came while the transfer was paused are brought all at once.
    fileprivate func callbackForHeader(_ lines: UnsafeRawBufferPointer) -> Int {
        active.note(self)
        if takesRepetition(lines) { return lines.count }
        let isTaken = hasFinalHead ? takeHeaders(lines) : takeHeader(lines)
        return isTaken ? lines.count : lines.count + 1  // another number stops libcurl
    }

    private func takeHeaders(_ lines: UnsafeRawBufferPointer) -> Bool {
        var rest = lines
        while let start = rest.baseAddress, !rest.isEmpty {
            let end = memchr(start, 0x0A, rest.count).map { start.distance(to: UnsafeRawPointer($0)) + 1 } ?? rest.count
            guard takeHeader(UnsafeRawBufferPointer(start: start, count: end)) else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
        }
        return true
    }

    fileprivate func callbackForRequest(
        _ local: (UnsafeMutablePointer<CChar>?, CInt), _ remote: (UnsafeMutablePointer<CChar>?, CInt)
    ) -> Bool {
        active.note(self)
        // The answer stands, though after a 417 libcurl would send the request again.
        guard !hasFinalHead else {
            wasRepetitionStopped = true
            return false
        }
        localPort = local.1
        guard requestGoesOut(now: Monotonic.now) else { return false }
        guard needsAddresses else {
            sockets.sinceRequest = 0
            return true
        }
        connectionStands(
            local: (local.0.map { String(cString: $0) } ?? "", local.1),
            remote: (remote.0.map { String(cString: $0) } ?? "", remote.1), now: Monotonic.now)
        return true
    }
}
