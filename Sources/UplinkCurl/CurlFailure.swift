// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import SystemPackage
import UplinkEventLoop
import UplinkHTTP

/// Turns failures into our errors: pure.
enum CurlFailure {
    typealias Code = HTTPClientError.Code

    static let closed = HTTPClientError(
        .closed, phase: .queue, message: "the client's transport has been shut down; make a new client")

    static func noLoop(
        _ error: EventLoopError, phase: HTTPClientError.Phase = .queue,
        requestDisposition: HTTPClientError.RequestDisposition = .notSent
    ) -> HTTPClientError {
        HTTPClientError(
            .closed, phase: phase, requestDisposition: requestDisposition,
            message: "\(error.message); a transport must be shut down before its loop ends")
    }

    static let bodyIsGone = HTTPClientError(
        .bodyNotReplayable, phase: .firstByte, requestDisposition: .maybeProcessed,
        message: "the connection broke, and the request's body cannot be produced again")

    static func pipe(_ path: FilePath) -> HTTPClientError {
        HTTPClientError(
            .invalidConfiguration, phase: .request,
            message: "`\(path)` is a pipe or socket, which cannot be read again for each connection; give a file")
    }

    static func queueFull(_ limit: Int) -> HTTPClientError {
        HTTPClientError(
            .queueFull, phase: .queue,
            message: "\(limit) transfers wait already; send fewer at once, or raise `maximumQueuedTransfers`")
    }

    static func engine(_ reason: String) -> HTTPClientError {
        HTTPClientError(
            .engine, phase: .request, requestDisposition: .maybeProcessed,
            message: "libcurl failed (\(reason)); this is a fault of Uplink or of libcurl, please report it")
    }

    static func noResources(
        _ reason: String, requestDisposition: HTTPClientError.RequestDisposition = .maybeProcessed
    ) -> HTTPClientError {
        HTTPClientError(
            .connectionFailed, phase: .connect, requestDisposition: requestDisposition,
            message: "the system has no more descriptors or memory (\(reason)); send fewer requests at the same time, "
                + "or raise the limit (ulimit -n)")
    }

    /// A transfer that libcurl calls complete, without a head.
    static let noHead = HTTPClientError(
        .connectionReset, phase: .firstByte, requestDisposition: .responseStarted,
        message: "the connection ended before the answer's head was complete; try again")

    /// Nothing is there to which it could be appended.
    static let foldedFirstField = HTTPClientError(
        .invalidFraming, phase: .firstByte, requestDisposition: .responseStarted,
        message: "a line of the answer's head is no field")

    static func truncated(received: Int64, expected: Int64?) -> HTTPClientError {
        let announced = expected.map { " of \($0)" } ?? ""
        var error = HTTPClientError(
            .truncated, phase: .body, requestDisposition: .responseStarted,
            message: "the connection ended after \(received)\(announced) bytes of the body; try again")
        error.receivedBytes = received
        error.expectedBytes = expected
        return error
    }

    static let proxyAuthorization = HTTPClientError(
        .invalidRequest, phase: .request,
        message: "`Proxy-Authorization` is the transport's own; give the proxy's credentials with the proxy")

    static let forked = HTTPClientError(
        .closed, phase: .request,
        message: "the process is a fork, and the transport's thread is its parent's; use transports after exec alone")

    static func timeout(_ timeout: TransferMachine.Timeout, _ limits: HTTPTimeouts) -> (Code, String) {
        switch timeout {
        case .queue:
            (
                .queueTimeout,
                "no turn within \(text(limits.queue)); read or drop the bodies of other answers, or allow more at once"
            )
        case .connect: (.connectTimeout, "no connection within \(text(limits.connect)); check the way to the server")
        case .firstByte: (.firstByteTimeout, "no answer within \(text(limits.firstByte)); the server may be overloaded")
        case .stall: (.stallTimeout, "no byte for \(text(limits.stall)); the connection may be broken")
        // `limits` has only what redirects and attempts have left of it.
        case .total:
            (.totalTimeout, "not finished within the \(limits.total == nil ? "reader's limit" : "total timeout")")
        }
    }

    private static func text(_ limit: Duration?) -> String { limit.map { "\($0)" } ?? "the limit" }
}
