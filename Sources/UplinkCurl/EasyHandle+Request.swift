// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import HTTPTypes
import UplinkHTTP

extension EasyHandle {
    /// Sets everything that a transfer needs. What fails is in ``firstError``.
    func configure(for transfer: CurlTransfer, _ settings: EngineSettings) {
        setRequest(transfer)
        setCallbacks(transfer)
        setSecurity(settings)
        setConnection(transfer, settings.configuration)
        setProxy(transfer.proxy)
    }

    func setRequest(_ transfer: CurlTransfer) {
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
                $0.value.isEmpty ? $0.name.rawName + ";" : $0.name.rawName + ": " + $0.value
            } + bodyFields(of: transfer))
    }
}
