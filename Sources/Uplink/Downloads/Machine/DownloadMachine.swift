// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// Decides what a download asks for, how it takes the answers, and when it tries again: pure; time and randomness are
/// passed in.
///
/// The bytes that are there are always the first ``received`` ones of ``version``. If an answer leaves any doubt, the
/// machine forgets them: asking again costs time, but a wrong byte costs the file.
struct DownloadMachine: Sendable {
    /// The state of the download.
    enum State: Sendable, Equatable {
        /// No request is out.
        case idle
        /// The whole file has been asked for.
        case askingForWhole
        /// The rest, after the bytes that are there, has been asked for.
        case askingForRest
        /// A body arrives, which ends at this offset in the file; nil if only its end will tell.
        case receiving(end: Int64?, isFramed: Bool)
        /// All bytes are there.
        case whole
        /// There will be no file.
        case failed
    }

    /// What to ask the server for.
    enum Plan: Sendable, Equatable {
        /// All of it.
        case whole
        /// The bytes from an offset on, if the version is still this one (`Range`, `If-Range`).
        case rest(from: Int64, ifStill: StrongValidator)
    }

    /// What to do with an answer's body.
    enum Verdict: Sendable {
        /// Throw away what is there, record the version, and write the body from the start.
        case begin(ResourceVersion)
        /// Write the body after what is there; the length of the version may have become known.
        case append(ResourceVersion)
        /// Discard it, and go on with the step.
        case leave(Step)
    }

    /// What comes next.
    enum Step: Sendable {
        /// All bytes are there: check them, and give the file its name.
        case complete
        /// Another attempt, after a pause; the reason is for people.
        case again(after: Pause, because: String)
        /// There will be no file.
        case fail(DownloadError)
    }

    /// How long to wait before another attempt.
    struct Pause: Sendable, Equatable {
        let length: Duration
        /// When a path other than the attempt's ends it; nil where that would change nothing, because a server has
        /// answered.
        var cutShort: Duration?

        static let none = Self(length: .zero)
    }

    /// What the server makes of requests for the rest.
    enum Ranges: Sendable {
        /// Nothing is known against them.
        case heeded
        /// It refused one: the next request asks for the whole.
        case refused
        /// It was asked for the whole because of that. Another refusal is final.
        case refusedForGood
    }

    let url: String
    let limits: DownloadLimits
    /// The time left until the deadline; nil without a deadline. Set before each event.
    var remaining: Duration?
    var state = State.idle
    /// The version that the bytes that are there belong to.
    var version: ResourceVersion?
    /// How many bytes are there.
    var received: Int64 = 0
    /// Whether the next request may ask for the rest.
    var ranges = Ranges.heeded
    /// Attempts so far, this one included.
    private(set) var attempts = 0
    /// How often the server continued where it was asked to.
    var resumptions = 0
    /// How often bytes were forgotten.
    var restarts = 0
    /// Failures in a row, without a new byte.
    var failures = 0
    /// Answers in a row, without a new byte, that may be lasting failures, or a stranger's.
    var doubts = 0
    /// How often the network was lost in a row, without a new byte.
    var losses = 0
    /// Whether the bytes came in one answer with a known end. Otherwise a wrong digest may be due to the pieces.
    var isOfOnePiece = false
    /// The status of the last attempt's answer, if the attempt failed because of it.
    var refusal: Int?
    /// How many bytes came in this run.
    private(set) var transferred: Int64 = 0
    /// The largest size ever announced, so that a sudden size of zero is not believed.
    var announced: Int64 = 0

    init(url: String, limits: DownloadLimits) {
        (self.url, self.limits) = (url, limits)
    }

    /// Takes what an earlier run left, bytes of a version. False when they are of no use.
    mutating func found(_ found: ResourceVersion, bytes: Int64) -> Bool {
        guard state == .idle, attempts == 0, found.validator != nil, bytes > 0, bytes <= found.length ?? .max,
            bytes <= limits.maximumSize, found.length.map({ limits.objection(to: $0) == nil }) ?? true
        else { return false }
        (version, received, announced) = (found, bytes, found.length ?? bytes)
        return true
    }

    /// Starts over, because what an earlier run left seemed to be of use but cannot be read. That is the fault of the
    /// disk and not of the server, so it is counted, but is no reason to give up.
    mutating func lost() {
        (version, received) = (nil, 0)
        restarts += 1
    }

    /// Begins an attempt.
    mutating func ask() -> Plan {
        attempts += 1
        refusal = nil
        if received > 0, ranges != .refused, let validator = version?.validator {
            state = .askingForRest
            return .rest(from: received, ifStill: validator)
        }
        state = .askingForWhole
        return .whole
    }

    /// Handles bytes that have come. Nil: write them.
    mutating func received(_ count: Int) -> Step? {
        guard case .receiving(let end, _) = state else { return fail(Self.outOfTurn) }
        let sum = received + Int64(count)
        transferred += Int64(count)
        if let end, sum > end { return distrust("the body is longer than its head says") }
        if sum > limits.maximumSize || sum > limits.expectedSize ?? .max {
            return fail(limits.objection(to: sum) ?? Self.outOfTurn)
        }
        received = sum
        (failures, doubts, losses) = (0, 0, 0)
        return nil
    }

    /// Handles the end of a body, according to its framing.
    mutating func bodyEnded() -> Step {
        guard case .receiving(let end, let isFramed) = state else { return fail(Self.outOfTurn) }
        if let end, received < end {
            return endedEarly("the body ended early")
        }
        guard let length = version?.length else {
            // Chunks, or the end of the connection.
            if received == 0, announced > 0 { return distrust(Self.suddenNothing) }
            if let objection = limits.objection(to: received) {
                guard isFramed else {
                    return endedEarly("the connection ended early")
                }
                return fail(objection)
            }
            version?.length = received
            state = .whole
            return .complete
        }
        if received < length {
            // The server sent only a part of what was asked for, as it may.
            state = .idle
            return .again(after: .none, because: "the server gave a part")
        }
        state = .whole
        return .complete
    }

    /// Whether what is there is of use to a later run after this error.
    func isWorthKeeping(after error: any Error) -> Bool {
        guard received > 0, version?.validator != nil else { return false }
        guard let error = error as? DownloadError else { return true }
        switch error.code {
        case .tooLarge, .sizeMismatch, .checksumMismatch, .tooManyRestarts, .unframedBody: return false
        // 404 may be temporary; 410 says that it is not (RFC 9110, section 15.5.11).
        case .unexpectedStatus: return error.status != 410
        default: return true
        }
    }

    /// Handles the file's digest. A wrong one is final if the server is at fault; if the file was put together here, or
    /// its end was a guess, the file is fetched again, as often as ``DownloadLimits/maximumRestarts`` allows.
    mutating func digested(_ digest: [UInt8]?, expected: [UInt8]?) -> Step {
        guard let expected, digest != expected else { return .complete }
        if !isOfOnePiece, restarts < limits.maximumRestarts {
            return distrust("the digest of what was put together is wrong")
        }
        return fail(
            DownloadError(
                .checksumMismatch,
                message:
                    "the file's digest is \(Hexadecimal.text(digest ?? [])), not \(Hexadecimal.text(expected)); it was "
                    + "changed on its way, or the server has another version"))
    }

    mutating func fail(_ error: DownloadError) -> Step {
        state = .failed
        return .fail(error)
    }

    static let suddenNothing = "the server says that the file is empty all of a sudden"
    private static let outOfTurn = DownloadError(.requestFailed, message: "the download is in disorder; report this")
}
