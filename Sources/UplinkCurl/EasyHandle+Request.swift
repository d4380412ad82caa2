// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import HTTPTypes
import UplinkHTTP

extension EasyHandle {
    /// Sets what is the same for all transfers of a transport. What fails is in ``firstError``.
    func prepare(_ settings: EngineSettings, in generation: Generation, share: UnsafeMutableRawPointer) {
        set(CURLOPT_SHARE, pointer: share)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))  // HTTP/2 truncates silently before libcurl 8
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        set(CURLOPT_HTTP09_ALLOWED, 0)
        set(CURLOPT_BUFFERSIZE, SlabPool.slabSize)
        setCallbacks(for: generation)
        setSecurity(settings)
        setConnection(settings.configuration)
        isPrepared = true
    }

    /// Sets what a transfer needs beside that. What fails is in ``firstError``.
    func configure(for transfer: CurlTransfer, _ configuration: CurlTransport.Configuration) {
        set(CURLOPT_PRIVATE, pointer: UnsafeMutableRawPointer(bitPattern: UInt(transfer.id)))
        set(CURLOPT_URL, transfer.url.textWithoutFragment)
        setBody(of: transfer)
        setFields(transfer, expectsContinue: transfer.upload?.expectsContinue == true)
        setOwner(transfer)
        setConnectTimeout(transfer.exchange.request.timeouts)
        if let addresses = configuration.addresses(for: transfer.url) { setAddresses(addresses, of: transfer.url) }
        if let proxy = transfer.proxy { setProxy(proxy) }
    }

    func setFields(_ transfer: CurlTransfer, expectsContinue: Bool) {
        // `Name;` is how libcurl spells an empty value, and `Name:` is how it is told to send no such field.
        let fields = transfer.exchange.request.head.headerFields.map {
            $0.value.isEmpty ? $0.name.rawName + ";" : $0.name.rawName + ": " + $0.value
        }
        let expectation = transfer.upload == nil ? [] : [expectsContinue ? "Expect: 100-continue" : "Expect:"]
        set(CURLOPT_HTTPHEADER, list: fields + expectation)
    }
}
