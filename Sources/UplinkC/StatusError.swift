// SPDX-License-Identifier: Apache-2.0
import CUplink
import SystemPackage
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP
import UplinkMonitor

/// The program's own number with which a callback ended a transfer.
struct VerdictError: Error {
    let status: CInt
}

/// The status with which a function of the C library refuses a call.
struct StatusError: Error {
    let status: CInt

    init(_ status: CInt) { self.status = status }
}
