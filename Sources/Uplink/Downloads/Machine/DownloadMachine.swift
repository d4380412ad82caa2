// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// Decides what a download asks for, what it makes of the answers, and when it tries again: pure; time and chance are
/// given.
///
/// The bytes that are there are always the first ``received`` ones of ``version``. Whatever an answer leaves in doubt
/// makes the machine forget them: to ask again costs time, a wrong byte the file.
struct DownloadMachine: Sendable {
    /// Where the download stands.
    enum State: Sendable, Equatable {
        /// No request is out.
        case idle
        /// The whole is asked for.
        case askingForWhole
        /// What follows the bytes that are there is asked for.
        case askingForRest
        /// A body arrives, which ends at this offset in the file; nil where only its end will tell.
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
        /// Throw away what is there, note the version, and write the body from the start.
        case begin(ResourceVersion)
        /// Write the body behind what is there; the version may have gained its length.
        case append(ResourceVersion)
        /// Leave it, and go on with the step.
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
        /// When a path other than the attempt's ends it; nil where that would change nothing, because a server has answered.
        var cutShort: Duration?

        static let none = Self(length: .zero)
    }

    let url: String
    let limits: DownloadLimits
    var state = State.idle
    /// What the bytes that are there belong to.
    var version: ResourceVersion?
    /// How many bytes are there.
    var received: Int64 = 0
    /// Attempts so far, this one included.
    private(set) var attempts = 0
    /// How often the server went on where it was asked to.
    var resumptions = 0
    /// How often bytes were forgotten.
    var restarts = 0
    /// Failures in a row, without a new byte.
    var failures = 0
    /// Those of them that need not pass.
    var doubts = 0
    /// How often the network was lost in a row, without a new byte.
    var losses = 0
    /// Whether the bytes came in one answer that told where it ends. Otherwise a wrong digest may be the pieces' fault.
    var isOfOnePiece = false
    /// The status of the last attempt's answer, if that was why it failed.
    var refusal: Int?
    /// Bytes that came in this run.
    private(set) var transferred: Int64 = 0
    /// The largest size that was ever announced, so that a sudden nothing is not believed.
    var announced: Int64 = 0

    init(url: String, limits: DownloadLimits) {
        (self.url, self.limits) = (url, limits)
    }

    /// What an earlier run has left: so many bytes of a version. False when they are of no use.
    mutating func found(_ found: ResourceVersion, bytes: Int64) -> Bool {
        guard state == .idle, attempts == 0, found.validator != nil, bytes > 0, bytes <= found.length ?? .max,
            bytes <= limits.maximumSize, found.length.map({ limits.objection(to: $0) == nil }) ?? true
        else { return false }
        (version, received, announced) = (found, bytes, found.length ?? bytes)
        return true
    }

    /// What an earlier run has left, and was found to be of use, cannot be read: begin anew. That is the disk's fault and not
    /// the server's, so that it counts, but is no reason to give up.
    mutating func lost() {
        (version, received) = (nil, 0)
        restarts += 1
    }

    /// An attempt begins.
    mutating func ask() -> Plan {
        attempts += 1
        refusal = nil
        if received > 0, let validator = version?.validator {
            state = .askingForRest
            return .rest(from: received, ifStill: validator)
        }
        state = .askingForWhole
        return .whole
    }

    /// Bytes have come. Nil to write them.
    mutating func received(_ count: Int, remaining: Duration?) -> Step? {
        guard case .receiving(let end, _) = state else { return fail(Self.outOfTurn) }
        let sum = received + Int64(count)
        transferred += Int64(count)
        if let end, sum > end { return distrust("the body is longer than its head says", remaining: remaining) }
        if sum > limits.maximumSize || sum > limits.expectedSize ?? .max {
            return fail(limits.objection(to: sum) ?? Self.outOfTurn)
        }
        received = sum
        (failures, doubts, losses) = (0, 0, 0)
        return nil
    }

    /// The body has ended, as its framing has it.
    mutating func bodyEnded(remaining: Duration?) -> Step {
        guard case .receiving(let end, let isFramed) = state else { return fail(Self.outOfTurn) }
        if let end, received < end {
            return endedEarly("the body ended early", remaining: remaining)
        }
        guard let length = version?.length else {
            // Chunks, or the end of the connection.
            if received == 0, announced > 0 { return distrust(Self.suddenNothing, remaining: remaining) }
            if let objection = limits.objection(to: received) {
                guard isFramed else {
                    return endedEarly("the connection ended early", remaining: remaining)
                }
                return fail(objection)
            }
            version?.length = received
            state = .whole
            return .complete
        }
        if received < length {
            // The server gave a part of what was asked for, as it may.
            state = .idle
            return .again(after: .none, because: "the server gave a part")
        }
        state = .whole
        return .complete
    }

    /// Whether what is there is of use to a later run, after this error.
    func isWorthKeeping(after error: any Error) -> Bool {
        guard received > 0, version?.validator != nil else { return false }
        guard let error = error as? DownloadError else { return true }
        switch error.code {
        case .tooLarge, .sizeMismatch, .checksumMismatch, .tooManyRestarts, .unframedBody: return false
        // 404 may pass; 410 says that it does not (RFC 9110, section 15.5.11).
        case .unexpectedStatus: return error.status != 410
        default: return true
        }
    }

    /// The file's digest has come out. A wrong one is final if it is the server's; if the file was put together here, or its
    /// end was a guess, it is fetched anew, as often as ``DownloadLimits/maximumRestarts`` allows.
    mutating func digested(_ digest: [UInt8]?, expected: [UInt8]?, remaining: Duration?) -> Step {
        guard let expected, digest != expected else { return .complete }
        if !isOfOnePiece, restarts < limits.maximumRestarts {
            return distrust("the digest of what was put together is wrong", remaining: remaining)
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
