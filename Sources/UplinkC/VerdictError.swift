// SPDX-License-Identifier: Apache-2.0

/// The program's own number with which a callback ended a transfer.
struct VerdictError: Error {
    let status: CInt
}
