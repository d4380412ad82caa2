// SPDX-License-Identifier: Apache-2.0

/// What became of a request's `Expect: 100-continue`.
enum Expectation {
    /// Nothing yet, if the request has one at all.
    case standing
    /// The server has answered 417: libcurl is about to send the request again without it, which it does only once.
    /// What comes until then is no answer.
    case refused
    /// The request was sent again, without it.
    case dropped
}
