// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import HTTPTypes
import SystemPackage
import UplinkCore
import UplinkHTTP

extension EasyHandle {
    /// Sets everything that a transfer needs. What fails is in ``firstError``.
    ///
    /// - Parameter engine: The engine's box, for what libcurl keeps with a connection.
    func configure(
        for transfer: CurlTransfer, _ configuration: CurlTransport.Configuration, engine: UnsafeMutableRawPointer
    ) {
        setRequest(transfer)
        setCallbacks(transfer)
        setSocketCallback(engine)
        setSecurity(configuration.trust)
        setConnection(transfer, configuration)
    }

    private func setRequest(_ transfer: CurlTransfer) {
        let head = transfer.exchange.request.head
        set(CURLOPT_PRIVATE, pointer: UnsafeMutableRawPointer(bitPattern: UInt(transfer.id)))
        set(CURLOPT_URL, transfer.url.textWithoutFragment)
        set(CURLOPT_PATH_AS_IS, 1)
        setBody(of: transfer)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))  // HTTP/2 truncates silently before libcurl 8
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        set(CURLOPT_HTTP09_ALLOWED, 0)
        set(CURLOPT_BUFFERSIZE, SlabPool.slabSize)
        // `Name;` is how libcurl spells an empty value.
        set(
            CURLOPT_HTTPHEADER,
            list: head.headerFields.map {
                $0.value.isEmpty ? "\($0.name.rawName);" : "\($0.name.rawName): \($0.value)"
            } + bodyFields(of: transfer))
    }

    private func setCallbacks(_ transfer: CurlTransfer) {
        // The transfer outlives its handle: the engine keeps it until the handle is gone.
        let box = Unmanaged.passUnretained(transfer).toOpaque()
        set(CURLOPT_WRITEDATA, pointer: box)
        note(
            uplink_easy_set_write(curl, CURLOPT_WRITEFUNCTION) { bytes, size, count, box in
                guard let transfer = CurlTransfer.recover(box) else { return 0 }
                return transfer.callbackForBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
            })
        set(CURLOPT_HEADERDATA, pointer: box)
        note(
            uplink_easy_set_write(curl, CURLOPT_HEADERFUNCTION) { bytes, size, count, box in
                guard let transfer = CurlTransfer.recover(box) else { return 0 }
                return transfer.callbackForHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
            })
        set(CURLOPT_PREREQDATA, pointer: box)
        note(
            uplink_easy_set_prereq(curl) { box, _, _, _, _ in
                CurlTransfer.recover(box)?.callbackForRequest()
                return CInt(CURL_PREREQFUNC_OK)
            })
    }

    private func setSocketCallback(_ engine: UnsafeMutableRawPointer) {
        // Kept with the connection, beyond the transfer: hence the engine, which outlives the multi.
        set(CURLOPT_SOCKOPTDATA, pointer: engine)
        note(
            uplink_easy_set_sockopt(curl) { box, descriptor, _ in
                CurlEngine.recover(box)?.assumeIsolated { $0.socketOpened(descriptor) }
                return CInt(CURL_SOCKOPT_OK)
            })
    }

    private func setSecurity(_ trust: CurlTransport.Trust) {
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(CURLOPT_PROXY, "")  // nothing from the environment
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        switch trust {
        case .system: guard LibCurl.hasAuthorityFile else { return }
        case .authorities(let file): set(CURLOPT_CAINFO, file.string)
        }
        // The file alone: with a directory beside it libcurl reads all authorities again for every connection.
        note(uplink_easy_set_string(curl, CURLOPT_CAPATH, nil))
    }

    private func setConnection(_ transfer: CurlTransfer, _ configuration: CurlTransport.Configuration) {
        let timeouts = transfer.exchange.request.timeouts
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)  // or a cancelled lookup blocks the loop
        // The second line behind our own timer, and what libcurl reckons an address's share of the time from.
        if let connect = [timeouts.connect, timeouts.total].compactMap({ $0 }).min() {
            let milliseconds = connect.nanosecondsRoundedUp / 1_000_000
            set(CURLOPT_CONNECTTIMEOUT_MS, Int(min(milliseconds, 86_400_000)) + 100)
        }
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, 30)
        set(CURLOPT_TCP_KEEPINTVL, 10)
        set(CURLOPT_MAXAGE_CONN, 60)
        set(CURLOPT_MAXLIFETIME_CONN, 600)
        switch configuration.addressFamily {
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        case nil: break
        }
        let key = "\(transfer.url.host):\(transfer.url.port)"
        if let addresses = configuration.resolve[key] {
            set(CURLOPT_RESOLVE, list: ["\(key):\(addresses.map(\.description).joined(separator: ","))"])
        }
    }
}

extension CurlTransfer {
    static func recover(_ box: UnsafeMutableRawPointer?) -> CurlTransfer? {
        box.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    fileprivate func callbackForBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        active.note(id)
        switch takeBody(bytes, now: Monotonic.now) {
        case .keep: return bytes.count
        case .pause: return Int(uplink_writefunc_pause)
        case .none, .enterGate, .start, .deliverHead, .resume, .end: return bytes.isEmpty ? 1 : 0  // stops libcurl
        }
    }

    fileprivate func callbackForHeader(_ line: UnsafeRawBufferPointer) -> Int {
        active.note(id)
        return takeHeader(line, now: Monotonic.now) ? line.count : line.count + 1  // another number stops libcurl
    }

    fileprivate func callbackForRequest() {
        active.note(id)
        requestGoesOut(now: Monotonic.now)
    }
}

/// The clock of the engine's deadlines.
enum Monotonic {
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
