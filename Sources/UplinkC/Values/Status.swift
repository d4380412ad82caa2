// SPDX-License-Identifier: Apache-2.0
import CUplink
import Uplink
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// The numbers of `uplink_error`, as the functions return them.
enum Status {
    static let ok = UPLINK_OK.rawValue
    static let invalid = UPLINK_EINVAL.rawValue
    static let badHandle = UPLINK_EBADHANDLE.rawValue
    static let stopped = UPLINK_ESTOPPED.rawValue
    static let deadlock = UPLINK_EDEADLK.rawValue
    static let busy = UPLINK_EBUSY.rawValue
    static let noCall = UPLINK_ENOENT.rawValue
    static let again = UPLINK_EAGAIN.rawValue
    static let system = UPLINK_ESYSTEM.rawValue
    static let namespace = UPLINK_ENAMESPACE.rawValue
    static let cancelled = UPLINK_ECANCELED.rawValue
    static let noNetwork = UPLINK_ENONETWORK.rawValue
    static let monitor = UPLINK_EMONITOR.rawValue
    static let url = UPLINK_EURL.rawValue
    static let request = UPLINK_EREQUEST.rawValue
    static let transfer = UPLINK_ETRANSFER.rawValue

    /// What a number means, in words.
    static func text(_ status: CInt) -> String { String(cString: uplink_strerror(status)) }

    /// The status for an operation that was not started.
    static func of(_ error: NetworkOperationError, in context: Context) -> CInt {
        switch error.code {
        case .timedOut: noNetwork
        case .cancelled: context.cancellation
        case .stopped: stopped
        case .monitorFailed: monitor
        case .invalidArgument: invalid
        default: transfer
        }
    }

    /// The status for a transfer that failed.
    static func of(_ error: HTTPClientError) -> CInt { (numbers[error.code] ?? UPLINK_ETRANSFER).rawValue }

    private static let numbers: [HTTPClientError.Code: uplink_error] = [
        .invalidURL: UPLINK_EURL, .invalidRequest: UPLINK_EREQUEST, .invalidConfiguration: UPLINK_EINVAL,
        .queueFull: UPLINK_EAGAIN, .closed: UPLINK_ESTOPPED,
        .queueTimeout: UPLINK_ETIMEDOUT, .connectTimeout: UPLINK_ETIMEDOUT, .firstByteTimeout: UPLINK_ETIMEDOUT,
        .stallTimeout: UPLINK_ETIMEDOUT, .totalTimeout: UPLINK_ETIMEDOUT,
        .dnsFailed: UPLINK_ERESOLVE, .connectionFailed: UPLINK_ECONNECT, .connectionReset: UPLINK_ERESET,
        .emptyReply: UPLINK_ERESET,
        .networkChanged: UPLINK_ERESET, .addressForbidden: UPLINK_ECONNECT, .bindingFailed: UPLINK_ECONNECT,
        .proxyFailed: UPLINK_ECONNECT, .proxyRefused: UPLINK_ECONNECT,
        .tlsVersionUnsupported: UPLINK_ETLS, .notTLS: UPLINK_ETLS, .clientCertificateRequired: UPLINK_ETLS,
        .clientCertificateRefused: UPLINK_ETLS, .certificatePinMismatch: UPLINK_ECERTIFICATE,
        .tlsFailed: UPLINK_ETLS, .certificateExpired: UPLINK_ECERTIFICATE, .certificateNotYetValid: UPLINK_ECERTIFICATE,
        .certificateHostMismatch: UPLINK_ECERTIFICATE, .certificateSelfSigned: UPLINK_ECERTIFICATE,
        .certificateUntrusted: UPLINK_ECERTIFICATE, .certificateWrongPurpose: UPLINK_ECERTIFICATE,
        .invalidResponse: UPLINK_EPROTOCOL, .invalidFraming: UPLINK_EPROTOCOL,
        .tooManyInterimResponses: UPLINK_EPROTOCOL, .unexpectedUpgrade: UPLINK_EPROTOCOL,
        .unframedBody: UPLINK_EPROTOCOL,
        .headerTooLarge: UPLINK_ETOOLARGE, .bodyTooLarge: UPLINK_ETOOLARGE, .truncated: UPLINK_ETRUNCATED,
        .unsupportedEncoding: UPLINK_EENCODING, .tooManyEncodings: UPLINK_EENCODING,
        .tooManyRedirects: UPLINK_EREDIRECT, .redirectForbidden: UPLINK_EREDIRECT,
        .fileExists: UPLINK_EEXIST, .fileFailed: UPLINK_EFILE, .engine: UPLINK_ETRANSFER,
        .bodyLengthMismatch: UPLINK_EBODY, .bodyNotReplayable: UPLINK_EBODY, .checksumMismatch: UPLINK_ECHECKSUM,
    ]

    /// The status for a download without a file.
    static func of(_ error: DownloadError, in context: Context) -> CInt {
        // A request that cannot be sent has a better number of its own.
        if error.code == .invalidOptions, let underlying = error.underlyingError as? HTTPClientError {
            return of(underlying)
        }
        if let number = downloadNumbers[error.code] { return number.rawValue }
        switch error.underlyingError {
        case let underlying as HTTPClientError: return of(underlying)
        case let underlying as NetworkOperationError: return of(underlying, in: context)
        default: return transfer
        }
    }

    private static let downloadNumbers: [DownloadError.Code: uplink_error] = [
        .invalidOptions: UPLINK_EREQUEST, .targetExists: UPLINK_EEXIST, .targetNotAFile: UPLINK_EFILE,
        .targetBusy: UPLINK_EINUSE, .diskFull: UPLINK_EDISKFULL, .notWritable: UPLINK_EFILE,
        .fileFailed: UPLINK_EFILE, .deadlineExceeded: UPLINK_ETIMEDOUT, .networkUnknown: UPLINK_EMONITOR,
        .unexpectedStatus: UPLINK_ESTATUS, .tooManyRestarts: UPLINK_ECHANGED, .unframedBody: UPLINK_EPROTOCOL,
        .tooLarge: UPLINK_ETOOLARGE, .sizeMismatch: UPLINK_ESIZE, .checksumMismatch: UPLINK_ECHECKSUM,
    ]
}
