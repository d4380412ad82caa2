// SPDX-License-Identifier: Apache-2.0

extension HTTPClientError {
    /// The kind of an error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case invalidURL, invalidRequest, invalidConfiguration
            case queueFull, queueTimeout, connectTimeout, firstByteTimeout, stallTimeout, totalTimeout
            case dnsFailed, connectionFailed, connectionReset, emptyReply
            case networkChanged, addressForbidden, bindingFailed, proxyFailed, proxyRefused
            case tlsFailed, tlsVersionUnsupported, notTLS, clientCertificateRequired, clientCertificateRefused
            case certificatePinMismatch, certificateExpired, certificateNotYetValid, certificateHostMismatch
            case certificateSelfSigned, certificateUntrusted, certificateWrongPurpose
            case invalidResponse, invalidFraming, headerTooLarge, tooManyInterimResponses, unexpectedUpgrade
            case truncated, unsupportedEncoding, tooManyEncodings, invalidEncoding, compressionRatioExceeded,
                unframedBody, bodyTooLarge, bodyAlreadyUsed
            case lineTooLong, invalidText, checksumMismatch
            case bodyNotReplayable, bodyLengthMismatch
            case tooManyRedirects, redirectForbidden
            case fileExists, fileFailed
            case closed, engine
        }
        private let kind: Kind

        /// The kind as one word, for logs and metrics.
        public var description: String { kind.rawValue }

        // MARK: Before anything is sent

        /// The URL is not one that this client can request.
        public static let invalidURL = Code(kind: .invalidURL)
        /// The method or a header field must not be sent.
        public static let invalidRequest = Code(kind: .invalidRequest)
        /// A timeout, limit or other setting makes no sense.
        public static let invalidConfiguration = Code(kind: .invalidConfiguration)
        /// More transfers are waiting than the configuration allows.
        public static let queueFull = Code(kind: .queueFull)
        /// The transport has been shut down.
        public static let closed = Code(kind: .closed)

        // MARK: Timeouts

        /// The transfer had to wait in the queue for too long.
        public static let queueTimeout = Code(kind: .queueTimeout)
        /// The connection, including TLS, was not established in time.
        public static let connectTimeout = Code(kind: .connectTimeout)
        /// The head of the response did not arrive in time.
        public static let firstByteTimeout = Code(kind: .firstByteTimeout)
        /// The body made no progress for too long.
        public static let stallTimeout = Code(kind: .stallTimeout)
        /// The whole exchange took too long.
        public static let totalTimeout = Code(kind: .totalTimeout)

        // MARK: Connections

        /// The host's name has no address, or no DNS server answered.
        public static let dnsFailed = Code(kind: .dnsFailed)
        /// The connection was refused, or there is no route to the host.
        public static let connectionFailed = Code(kind: .connectionFailed)
        /// The connection broke.
        public static let connectionReset = Code(kind: .connectionReset)
        /// The server closed the connection without a response.
        public static let emptyReply = Code(kind: .emptyReply)

        /// The network under the connection is gone: its local address was removed.
        public static let networkChanged = Code(kind: .networkChanged)
        /// The host's address is one that this transport does not connect to.
        public static let addressForbidden = Code(kind: .addressForbidden)
        /// The interface or the local address that connections are bound to does not exist.
        public static let bindingFailed = Code(kind: .bindingFailed)
        /// The proxy cannot be reached, cannot reach the server, or does not behave as a proxy should.
        public static let proxyFailed = Code(kind: .proxyFailed)
        /// The proxy refuses to connect to the host, or requires other credentials.
        public static let proxyRefused = Code(kind: .proxyRefused)

        // MARK: TLS

        /// The TLS handshake failed.
        public static let tlsFailed = Code(kind: .tlsFailed)
        /// The server offers only versions of TLS that are too old.
        public static let tlsVersionUnsupported = Code(kind: .tlsVersionUnsupported)
        /// The server does not speak TLS on this port.
        public static let notTLS = Code(kind: .notTLS)
        /// The server requires a client certificate.
        public static let clientCertificateRequired = Code(kind: .clientCertificateRequired)
        /// The server refuses the client's certificate.
        public static let clientCertificateRefused = Code(kind: .clientCertificateRefused)
        /// The server's key is not one of the pinned ones.
        public static let certificatePinMismatch = Code(kind: .certificatePinMismatch)
        /// The server's certificate has expired.
        public static let certificateExpired = Code(kind: .certificateExpired)
        /// The server's certificate is not valid yet.
        public static let certificateNotYetValid = Code(kind: .certificateNotYetValid)
        /// The server's certificate is for another host.
        public static let certificateHostMismatch = Code(kind: .certificateHostMismatch)
        /// The server's certificate is self-signed.
        public static let certificateSelfSigned = Code(kind: .certificateSelfSigned)
        /// The server's certificate was not issued by an authority trusted here.
        public static let certificateUntrusted = Code(kind: .certificateUntrusted)
        /// The server's certificate is not meant for servers.
        public static let certificateWrongPurpose = Code(kind: .certificateWrongPurpose)

        // MARK: Responses

        /// The response is not HTTP/1.
        public static let invalidResponse = Code(kind: .invalidResponse)
        /// The response's length is contradictory or unreadable (RFC 9112, section 6.3).
        public static let invalidFraming = Code(kind: .invalidFraming)
        /// The response's head exceeds the limits.
        public static let headerTooLarge = Code(kind: .headerTooLarge)
        /// More interim (1xx) responses than the limits allow.
        public static let tooManyInterimResponses = Code(kind: .tooManyInterimResponses)
        /// The server switched protocols without being asked (101).
        public static let unexpectedUpgrade = Code(kind: .unexpectedUpgrade)
        /// The body ended before its announced end.
        public static let truncated = Code(kind: .truncated)
        /// The body has a content coding that was not requested and cannot be decoded.
        public static let unsupportedEncoding = Code(kind: .unsupportedEncoding)
        /// The body is encoded more often than the limits allow.
        public static let tooManyEncodings = Code(kind: .tooManyEncodings)
        /// The body is damaged, or not in the content coding that it claims. Anything after the end of an encoded body
        /// is ignored, as browsers do, unless it begins as gzip does (1F 8B).
        public static let invalidEncoding = Code(kind: .invalidEncoding)
        /// The decoded body is too many times larger than what was received.
        public static let compressionRatioExceeded = Code(kind: .compressionRatioExceeded)
        /// The body is delimited only by the end of the connection, so that nobody can tell whether it is complete;
        /// refused by configuration.
        public static let unframedBody = Code(kind: .unframedBody)
        /// The body is larger than the caller allows.
        public static let bodyTooLarge = Code(kind: .bodyTooLarge)
        /// The body is being read by another iterator, or has been.
        public static let bodyAlreadyUsed = Code(kind: .bodyAlreadyUsed)

        /// A line of the body is longer than the caller allows.
        public static let lineTooLong = Code(kind: .lineTooLong)
        /// The body was to be text but is not UTF-8.
        public static let invalidText = Code(kind: .invalidText)
        /// The body's digest is not the expected one.
        public static let checksumMismatch = Code(kind: .checksumMismatch)

        // MARK: The request's body

        /// The request would have to be sent again, but its body cannot be.
        public static let bodyNotReplayable = Code(kind: .bodyNotReplayable)
        /// The request's body is longer or shorter than announced, or its file changed while it was sent.
        public static let bodyLengthMismatch = Code(kind: .bodyLengthMismatch)

        // MARK: Redirects

        /// The redirects form a loop or are more than allowed.
        public static let tooManyRedirects = Code(kind: .tooManyRedirects)
        /// The redirect is not followed: it names several targets, or none that is an `http` or `https` URL, or leads
        /// from `https` to `http`.
        public static let redirectForbidden = Code(kind: .redirectForbidden)

        // MARK: Files and the rest

        /// The file to be written already exists.
        public static let fileExists = Code(kind: .fileExists)
        /// The file could not be written, or a file to be sent could not be read.
        public static let fileFailed = Code(kind: .fileFailed)
        /// The engine failed in a way that has no code of its own; see `curlCode`.
        public static let engine = Code(kind: .engine)

        private static let networkFailures: Set<Kind> = [
            .connectTimeout, .firstByteTimeout, .stallTimeout, .dnsFailed, .connectionFailed, .connectionReset,
            .emptyReply, .truncated, .networkChanged, .bindingFailed, .proxyFailed,
        ]

        /// Whether another path through the network may help.
        var isNetworkFailure: Bool { Self.networkFailures.contains(kind) }
    }
}
