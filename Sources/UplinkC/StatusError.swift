// SPDX-License-Identifier: Apache-2.0

/// The status with which a function of the C library refuses a call.
struct StatusError: Error {
    let status: CInt

    init(_ status: CInt) { self.status = status }
}
