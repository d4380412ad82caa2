// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import UplinkHTTP

extension EasyHandle {
    /// Sets the callbacks. Their box is this handle, which owns libcurl's, and so exists as long.
    func setCallbacks(for generation: Generation) {
        let box = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_PRIVATE, pointer: box)
        set(CURLOPT_WRITEDATA, pointer: box)
        set(CURLOPT_HEADERDATA, pointer: box)
        set(CURLOPT_PREREQDATA, pointer: box)
        // libcurl keeps some callbacks' data with the connection, beyond the handle; this one it takes from the handle.
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
        // The generation's box, because libcurl keeps this one with the connection, beyond the transfer.
        set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(generation).toOpaque())
        note(
            uplink_easy_set_closesocket(curl) { box, descriptor in
                Generation.lend(box) { $0.socketCloses(descriptor) }
                return close(descriptor)
            })
    }
}

extension EasyHandle {
    /// Sets the callback that libcurl calls for each byte of a proxy's answer to CONNECT, and later for each read.
    func setTunnelCallback() {
        set(CURLOPT_XFERINFODATA, pointer: Unmanaged.passUnretained(self).toOpaque())
        note(
            uplink_easy_set_progress(curl) { box, _, _, _, _ in
                EasyHandle.withTransfer(of: box) { $0.isTunnelRefused } == true ? 1 : 0
            })
        set(CURLOPT_NOPROGRESS, 0)
    }

    /// Lends the transfer of a callback's handle. Neither is retained: the engine has a reference to each until libcurl
    /// no longer has the handle, and that never happens during a callback.
    static func withTransfer<Result>(
        of box: UnsafeMutableRawPointer?, _ body: (CurlTransfer) -> Result
    ) -> Result? {
        let transfer = box.flatMap { Unmanaged<EasyHandle>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.transfer } }
        return transfer?._withUnsafeGuaranteedRef(body)
    }

    /// The transfer of one of libcurl's handles; nil if the handle is libcurl's own.
    static func transfer(of curl: UnsafeMutableRawPointer) -> CurlTransfer? {
        var box: UnsafeMutableRawPointer?
        guard uplink_easy_get_pointer(curl, CURLINFO_PRIVATE, &box) == CURLE_OK else { return nil }
        return withTransfer(of: box) { $0 }
    }
}

extension CurlTransfer {
    fileprivate func callbackForBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        active.note(self)
        if !hasFinalHead, handle?.showsHead == true { return mayBeTaken(bytes) ? bytes.count : 0 }
        switch takeBody(bytes, now: Monotonic.now) {
        case .keep: return bytes.count
        case .pause: return Int(uplink_writefunc_pause)
        case .refuse: return bytes.isEmpty ? 1 : 0  // another number stops libcurl
        }
    }

    /// Whether libcurl may take a piece of a head before the first field has come. False stops the transfer.
    private func mayBeTaken(_ piece: UnsafeRawBufferPointer) -> Bool {
        defer { isWithinLine = piece.last != UInt8(ascii: "\n") }  // libcurl splits lines of 16 KiB
        guard !isWithinLine, piece.first == UInt8(ascii: " ") || piece.first == UInt8(ascii: "\t") else { return true }
        stops(because: CurlFailure.foldedFirstField)
        return false
    }

    /// Takes one line, or all trailers together if they came while the transfer was paused.
    fileprivate func callbackForHeader(_ lines: UnsafeRawBufferPointer) -> Int {
        active.note(self)
        if handle?.showsHead == true, isField(lines) { handle?.setShowsHead(false) }
        if takesRepetition(lines) { return lines.count }
        let isTaken = hasFinalHead ? takeHeaders(lines) : takeHeader(lines)
        return isTaken ? lines.count : lines.count + 1  // another number stops libcurl
    }

    /// Whether a line is neither a status line nor empty.
    private func isField(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let first = line.first else { return false }
        return first > UInt8(ascii: " ") && !line.starts(with: "HTTP/".utf8)
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
        // There is a final answer, although after a 417 libcurl would send the request again.
        guard !hasFinalHead else {
            wasRepetitionStopped = true
            return false
        }
        sockets.localPort = local.1
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
