// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkHTTP

// When the machine tries again.

extension DownloadMachine {
    /// Why an attempt ended before its answer was complete.
    enum Failure: Sendable {
        /// The network was lost under it: wait for the network, and no longer.
        case networkLost(String)
        /// For a reason that may be temporary.
        case passing(any Error)
        /// For a reason that is temporary if a server or a proxy is just being restarted, or others are about to give
        /// descriptors back, and lasting otherwise.
        case doubtful(any Error)
        /// For a reason that is lasting.
        case lasting(DownloadError)

        init(_ error: any Error) {
            switch error {
            case let error as DownloadError: self = .lasting(error)
            case let error as NetworkOperationError: self = Self.of(error)
            case let error as HTTPClientError: self = Self.of(error)
            case let error as any NetworkFailure where error.isNetworkFailure: self = .passing(error)
            case is CancellationError: self = .lasting(.requestCancelled)
            default: self = .lasting(.requestFailed(error))
            }
        }

        private static func of(_ error: NetworkOperationError) -> Self {
            // The disk may fail at the moment the network is lost.
            if let error = error.underlyingError as? DownloadError { return .lasting(error) }
            return switch error.code {
            case .networkLost: .networkLost("the network was lost")
            default: .lasting(DownloadError(.networkUnknown, message: "\(error)", underlyingError: error))
            }
        }

        private static func of(_ error: HTTPClientError) -> Self {
            switch error.code {
            case .networkChanged: .networkLost("the connection's network is gone")
            case .queueFull, .queueTimeout: .passing(error)
            // A head that is cut short cannot be distinguished from an invalid one.
            case .invalidResponse, .invalidFraming, .proxyRefused: .doubtful(error)
            case .connectionFailed where error.errno == EMFILE || error.errno == ENFILE: .doubtful(error)
            case .invalidURL, .invalidRequest, .invalidConfiguration:
                .lasting(DownloadError(.invalidOptions, message: "\(error)", underlyingError: error))
            default: error.isNetworkFailure ? .passing(error) : .lasting(.requestFailed(error))
            }
        }
    }

    /// Handles a failed attempt. What came before has been written.
    mutating func failed(_ failure: Failure) -> Step {
        switch failure {
        case .networkLost(let reason):
            // This is no failure of the download, and does not count towards `maximumFailures`. Only if the network is
            // lost again and again before a byte comes do attempts become slower.
            losses += 1
            state = .idle
            guard losses > 1 else { return .again(after: .none, because: reason) }
            let pause = limits.backOff.pause(after: losses - 1, remaining: remaining)
            return .again(after: pauseOfThePath(pause), because: reason)
        case .passing(let error):
            let isOfThePath = (error as? HTTPClientError)?.requestDisposition != .responseStarted
            return tryAgain(after: nil, isOfThePath: isOfThePath, because: "\(error)") {
                DownloadError(.tooManyFailures, message: $0, underlyingError: error)
            }
        case .doubtful(let error):
            doubts += 1
            if doubts >= Self.maximumDoubts { return fail(.requestFailed(error)) }
            return tryAgain(after: nil, because: "\(error)") {
                DownloadError(.tooManyFailures, message: $0, underlyingError: error)
            }
        case .lasting(let error): return fail(error)
        }
    }

    /// The pause after a failure that another path may cure: it is cut short when the path changes, but not to nothing,
    /// or a path that keeps changing would make a loop of requests.
    private func pauseOfThePath(_ length: Duration) -> Pause {
        Pause(length: length, cutShort: min(length, limits.backOff.initialPause / 2))
    }

    /// The path has changed and cut the pause short. Failures on the old path do not count for the new one, so many
    /// changes do not make pauses longer.
    mutating func pauseWasCutShort() { (failures, losses) = (0, min(losses, 1)) }

    /// Handles a body that ended before all of it had come, although its framing was intact.
    mutating func endedEarly(_ reason: String) -> Step {
        let cause = HTTPClientError(.truncated, phase: .body, requestDisposition: .responseStarted, message: reason)
        return tryAgain(after: nil, because: reason) {
            DownloadError(.tooManyFailures, message: $0, underlyingError: cause)
        }
    }

    /// This many doubtful failures without a new byte between them count as lasting.
    static let maximumDoubts = 5

    /// Starts over, because what is there, or what the server says about it, cannot be right.
    mutating func distrust(_ reason: String) -> Step {
        (received, version) = (0, nil)
        restarts += 1
        if let error = tooManyRestarts(reason) { return fail(error) }
        return tryAgain(after: restarts == 1 ? .zero : nil, because: reason)
    }

    func tooManyRestarts(_ reason: String) -> DownloadError? {
        guard restarts > limits.maximumRestarts else { return nil }
        let advice =
            reason == Self.suddenNothing
            ? "if it really is, download it again"
            : "the server cannot go on with what it gave, use another one or a steadier network"
        return DownloadError(
            .tooManyRestarts,
            message: "the download began anew \(limits.maximumRestarts) times and would have to again: \(reason); "
                + advice)
    }

    /// - Parameters:
    ///   - pause: Nil for a back-off.
    ///   - isOfThePath: Whether no server has answered, so that another path may be all it takes.
    ///   - wanted: What the server asks for. The back-off applies as well, because the server may ask for no time at
    ///     all.
    ///   - error: The error to end with when it has been tried often enough.
    mutating func tryAgain(
        after pause: Duration?, isOfThePath: Bool = false, atLeast wanted: Duration = .zero, because reason: String,
        else error: (String) -> DownloadError = { DownloadError(.tooManyFailures, message: $0) }
    ) -> Step {
        failures += 1
        // Bytes that were of no use are asked for again, which is not in vain.
        let isInVain = transferred == 0 && restarts == 0
        let most = (isInVain ? limits.backOff.maximumFirstFailures : nil) ?? limits.backOff.maximumFailures
        if let most, failures > most {
            let attempts = failures == 1 ? "an attempt failed" : "\(failures) attempts in a row failed, the last"
            return fail(error("\(attempts): \(reason)"))
        }
        state = .idle
        let length = pause ?? max(wanted, limits.backOff.pause(after: failures, remaining: remaining))
        return .again(after: isOfThePath ? pauseOfThePath(length) : Pause(length: length), because: reason)
    }
}

extension DownloadError {
    /// The error for a request that was cancelled although its download was not.
    fileprivate static let requestCancelled = Self(
        .requestFailed,
        message: "the request was cancelled, and the download was not; keep its client open until the download has "
            + "ended, and see that no middleware throws CancellationError",
        underlyingError: CancellationError())

    static func requestFailed(_ error: any Error) -> Self {
        Self(.requestFailed, message: "\(error)", underlyingError: error)
    }
}
