// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// What a transport returns: the final head, and the body to come.
public struct HTTPTransportResponse: Sendable {
    private enum Head {
        /// A head that has been parsed.
        case received(ReceivedHead)
        /// A head that was set.
        case given(HTTPResponse)
    }

    private var storedHead: Head
    /// The status and the fields.
    public var head: HTTPResponse {
        get {
            switch storedHead {
            case .received(let head): head.response
            case .given(let head): head
            }
        }
        set { storedHead = .given(newValue) }
    }
    /// The body; empty for HEAD and for the statuses that have none.
    public var body: HTTPBody
    /// The exchange of its call that brought it, if exchanges are observed; nil for a response made by a middleware.
    var exchange: UInt64?
    /// Whether a middleware asked for its content codings, which are then left as they are.
    var hasOwnCodings = false

    /// Makes a response.
    public init(head: HTTPResponse, body: HTTPBody) {
        storedHead = .given(head)
        self.body = body
    }

    /// Makes a response whose head has been parsed.
    package init(_ head: ReceivedHead, source: any HTTPBodySource) {
        let framing = head.framing
        storedHead = .received(head)
        body = HTTPBody(framing: framing.kind, contentLength: framing.contentLength, source: source)
    }

    /// The head's status.
    var status: HTTPResponse.Status {
        switch storedHead {
        case .received(let head): head.status
        case .given(let head): head.status
        }
    }

    /// `HTTP/1.0` or `HTTP/1.1`, as the server says (RFC 9112, section 2.3).
    package var version: String {
        if case .received(let head) = storedHead, head.isHTTP10 { "HTTP/1.0" } else { "HTTP/1.1" }
    }

    /// Whether the head is known to name no content coding.
    var isPlain: Bool {
        switch storedHead {
        case .received(let head): !head.framing.hasContentCoding
        case .given: false
        }
    }
}
