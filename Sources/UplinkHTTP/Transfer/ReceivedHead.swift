// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

/// A final head as it was parsed. An object, which is cheaper to pass on than its parts.
package final class ReceivedHead: Sendable, Equatable {
    package let response: HTTPResponse
    /// The response's status, kept because an `HTTPResponse` parses it each time.
    package let status: HTTPResponse.Status
    package let framing: Framing
    /// Whether the server spoke HTTP/1.0.
    let isHTTP10: Bool

    package init(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ framing: Framing, isHTTP10: Bool = false) {
        response = HTTPResponse(status: status, headerFields: fields)
        (self.status, self.framing, self.isHTTP10) = (status, framing, isHTTP10)
    }

    /// Whether the server closes the connection after this answer, or is to be taken to (RFC 9112, section 9.6).
    package var saysClose: Bool {
        response.headerFields[values: .connection].contains { value in
            value.split(separator: ",").contains { $0.filter { $0 != " " && $0 != "\t" }.lowercased() == "close" }
        }
    }

    package static func == (one: ReceivedHead, other: ReceivedHead) -> Bool {
        one === other || one.response == other.response && one.framing == other.framing
    }
}
