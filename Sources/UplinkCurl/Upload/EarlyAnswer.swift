// SPDX-License-Identifier: Apache-2.0

/// An answer that comes before the request's body is out.
enum EarlyAnswer {
    /// Before the next piece of the body goes out, the socket is looked at.
    case unchecked
    /// Something has come: sending is paused until the turn has ended, so that libcurl reads it.
    case awaited
    /// libcurl has had its chance to read it: the next piece goes out without another look.
    case passed
}
