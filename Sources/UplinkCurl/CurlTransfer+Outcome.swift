// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import UplinkCore
import UplinkHTTP

extension CurlTransfer {
    /// The error that a transfer ends with, or nil when its body is whole. Its handle must still be there.
    func outcome(of ending: TransferMachine.Ending, code: CURLcode) -> (any Error)? {
        switch ending {
        case .complete: return nil
        case .cancelled: return CancellationError()
        case .timedOut(let timeout): return outcome(ofTimeout: timeout, report(of: code))
        case .failed: return outcome(ofFailure: report(of: code))
        }
    }

    private func report(of code: CURLcode) -> CurlReport {
        handle.map { CurlReport(code: code, handle: $0) } ?? CurlReport(code: code)
    }

    /// The error for a transfer whose loop ends under it.
    var loopEnded: HTTPClientError {
        error(
            .closed, CurlFailure.phase(machine.phase, nil),
            "the transport's loop has ended; shut the transport down before its loop ends")
    }

    private func outcome(ofTimeout timeout: TransferMachine.Timeout, _ report: CurlReport) -> HTTPClientError {
        let phase = timeout == .connect ? phaseOfConnecting(report) : CurlFailure.phase(machine.lastPhase, report)
        let (code, message) = CurlFailure.timeout(timeout, exchange.request.timeouts)
        return error(code, phase, message)
    }

    /// How far connecting had come when its time was over.
    private func phaseOfConnecting(_ report: CurlReport) -> HTTPClientError.Phase {
        let phase = CurlFailure.phase(machine.lastPhase, report)
        let isEarly = phase == .connect || phase == .dns
        return isEarly && hasConnectedForTLS ? .tls : phase
    }

    private func outcome(ofFailure report: CurlReport) -> any Error {
        if let failure = upload?.failure { return outcome(ofBody: failure) }
        if let stopReason { return complete(stopReason) }
        // libcurl's own limit, which comes first where the loop was held up.
        let isTimeout = report.code == CURLE_OPERATION_TIMEDOUT
        let phase = isTimeout ? phaseOfConnecting(report) : CurlFailure.phase(machine.lastPhase, report)
        if isAddressGone {
            return error(.networkChanged, phase, "the network changed under the connection; try again")
        }
        if report.code == CURLE_OK, let incompleteness { return complete(incompleteness) }
        if report.code == CURLE_PARTIAL_FILE {
            // libcurl heeds the fields that frame a body before the head is complete.
            guard hasFinalHead else { return complete(CurlFailure.noHead, report) }
            return complete(CurlFailure.truncated(received: received, expected: expected), report)
        }
        if report.code == CURLE_COULDNT_CONNECT, let error = whyNotConnected(report) { return error }
        if phase == .firstByte, !parser.hasBegun, exchange.request.fields.byteCount > 1_000_000,
            report.code == CURLE_OUT_OF_MEMORY || report.code == uplink_code_too_large
        {
            return error(
                .invalidRequest, .request, "the request's head is larger than libcurl sends (1 MiB); send less", report)
        }
        if isAtProxysTLS(report), let (code, message) = CurlFailure.code(ofHandshakeWithProxy: report) {
            return error(code, .connect, message, report)
        }
        if wasConnecting, let proxy,
            let (code, message) = CurlFailure.code(of: report, through: proxy)
        {
            return error(code, CurlFailure.phase(ofFailureAtProxy: code, phase), message, report)
        }
        var (code, message) = CurlFailure.code(of: report, in: phase)
        if code == .clientCertificateRefused, generation?.engine.configuration.identity == nil {
            (code, message) = CurlFailure.certificateRequired  // some servers call its lack so
        }
        return error(code, phase, message, report)
    }

    /// The error where libcurl could not connect, if this side knows more about that than libcurl.
    private func whyNotConnected(_ report: CurlReport) -> HTTPClientError? {
        if sockets.all.isEmpty, let address = sockets.forbidden {
            return error(
                .addressForbidden, .connect,
                "the host's address \(address) is not that of another host on the internet; see `publicAddressesOnly`",
                report)
        }
        if !report.isOfTunnel, let shortage = sockets.shortage {
            var report = report
            report.errno = shortage
            let reason = String(cString: strerror(shortage))
            return error(
                .connectionFailed, .connect, "no socket for a connection: \(reason); raise the limit (ulimit -n)",
                report)
        }
        if sockets.all.isEmpty, let reason = sockets.bindingError {
            var report = report
            report.errno = reason
            let help = reason == ENODEV ? "`ip link` shows what there is" : "before Linux 5.7 that takes CAP_NET_RAW"
            return error(
                .bindingFailed, .connect,
                "cannot bind to the interface of `localEnd`: \(String(cString: strerror(reason))); \(help)", report)
        }
        if let path = generation?.engine.configuration.unixSocket {
            return error(
                .connectionFailed, .connect, "cannot connect to the socket `\(path)`; check that its server runs",
                report)
        }
        if let (code, message) = otherFamily { return error(code, .connect, message, report) }
        return nil
    }

    /// Whether the TLS that was spoken last was that to a proxy.
    private func isAtProxysTLS(_ report: CurlReport) -> Bool {
        proxy?.kind == .https && !hasFinalHead && (url.scheme == .http || report.connectStatus == 0)
    }

    /// The error for an address, of a proxy or in the URL, that is not of the family that connections have to be of.
    private var otherFamily: (HTTPClientError.Code, String)? {
        guard let configuration = generation?.engine.configuration,
            let peer = IPAddress((proxy?.host ?? url.host).withoutBrackets)
        else { return nil }
        if case .address(let local) = configuration.localEnd, local.family != peer.family {
            return (
                .bindingFailed, "\(local), which `localEnd` binds to, reaches no \(peer): their families differ"
            )
        }
        guard let family = configuration.addressFamily, family != peer.family else { return nil }
        return (
            .connectionFailed,
            "\(peer) is no \(family == .ipv4 ? "IPv4" : "IPv6") address, and connections are of that family alone "
                + "(`addressFamily`); give a name that has addresses of both families"
        )
    }

    /// The producer's error, with its URL if it has one. Whether anything was sent, however, refers to this request,
    /// not to one that the producer made.
    private func outcome(ofBody failure: any Error) -> any Error {
        guard var error = failure as? HTTPClientError else { return failure }
        switch machine.lastPhase {
        case .queued, .gated, .connecting: error.requestDisposition = .notSent
        case .awaitingHead, .bodyFlowing, .bodyPaused, .ended:
            if error.requestDisposition == .notSent { error.requestDisposition = .maybeProcessed }
        }
        return complete(error)
    }

    private func error(
        _ code: HTTPClientError.Code, _ phase: HTTPClientError.Phase, _ message: String, _ report: CurlReport? = nil
    ) -> HTTPClientError {
        let disposition: HTTPClientError.RequestDisposition =
            switch phase {
            case .request, .queue: .notSent
            case .dns, .connect, .tls: machine.lastPhase == .awaitingHead ? .maybeProcessed : .notSent
            case .firstByte: parser.hasBegun ? .responseStarted : .maybeProcessed
            case .redirect, .body, .sink: .responseStarted
            }
        // If the way there failed, the message says that it leads through a proxy.
        let place = wasConnecting ? proxy.map { "through the proxy \($0.url): " } ?? "" : ""
        return complete(
            HTTPClientError(code, phase: phase, requestDisposition: disposition, message: place + message), report)
    }

    private func complete(_ error: HTTPClientError, _ report: CurlReport? = nil) -> HTTPClientError {
        var error = error
        if error.url.isEmpty {  // otherwise it is from a request that the body's producer made
            error.url = url.redacted
            error.receivedBytes = received
            error.expectedBytes = error.expectedBytes ?? expected
        }
        if let report {
            error.curlCode = CInt(bitPattern: report.code.rawValue)
            error.curlText =
                report.text.isEmpty ? String(cString: curl_easy_strerror(report.code)) : report.text
            error.errno = report.errno
        }
        return error
    }
}
