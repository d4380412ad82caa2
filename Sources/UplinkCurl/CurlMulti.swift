// SPDX-License-Identifier: Apache-2.0
import CLibCurl

/// A `CURLM` with the TLS sessions that its transfers share. Only for the loop's thread.
final class CurlMulti {
    let curl: UnsafeMutableRawPointer
    let share: UnsafeMutableRawPointer

    /// - Parameter box: The generation's. It outlives the multi.
    init?(box: UnsafeMutableRawPointer) {
        guard let share = curl_share_init() else { return nil }
        guard let multi = curl_multi_init() else {
            curl_share_cleanup(share)
            return nil
        }
        (curl, self.share) = (multi, share)
        // Without a share no TLS session is resumed. There is only one thread, so no locks.
        uplink_share_set_long(share, CURLSHOPT_SHARE, Int(CURL_LOCK_DATA_SSL_SESSION.rawValue))
        uplink_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
        // Unknown before 8.20. The first is as for the handles; and lookups that were cancelled must not hold up
        // others.
        uplink_multi_set_long(multi, uplink_multi_quick_exit, 1)
        uplink_multi_set_long(multi, uplink_multi_resolve_threads_max, 512)
        uplink_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, box)
        uplink_multi_set_socket(multi) { easy, descriptor, change, box, _ in
            Generation.lend(box) { $0.socketChanged(descriptor, to: change, for: easy) }
            return 0  // returning -1 would end every transfer
        }
        uplink_multi_set_pointer(multi, CURLMOPT_TIMERDATA, box)
        uplink_multi_set_timer(multi) { _, milliseconds, box in
            Generation.lend(box) { $0.timerChanged(to: milliseconds) }
            return 0
        }
    }

    /// Sets how many connections there may be at the end of a transfer, those in use included: if there are more,
    /// libcurl closes the oldest idle one.
    func limitConnections(to maximum: Int) { uplink_multi_set_long(curl, CURLMOPT_MAXCONNECTS, maximum) }

    /// Closes the connections, which calls the callbacks. No transfer may be left.
    func cleanUp() {
        curl_multi_cleanup(curl)
        curl_share_cleanup(share)
    }

    /// Returns a transfer that libcurl is done with; nil when there are no more.
    func nextFinished() -> (transfer: CurlTransfer, code: CURLcode)? {
        var left: CInt = 0
        while let message = curl_multi_info_read(curl, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            if let transfer = EasyHandle.transfer(of: easy) { return (transfer, message.pointee.data.result) }
        }
        return nil
    }
}
