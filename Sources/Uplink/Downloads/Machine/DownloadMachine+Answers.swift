// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

// What the machine makes of an answer's head.

extension DownloadMachine {
    /// Handles the head of an answer.
    mutating func answered(_ answer: DownloadAnswer) -> Verdict {
        switch state {
        case .askingForWhole:
            guard ranges == .refused else { return answeredWhole(answer) }
            ranges = .refusedForGood
            // The bytes that are there are of use until this is known to be their file.
            return answer.status == 200 ? wholeAgain(answer) : answeredWhole(answer)
        case .askingForRest: return answeredRest(answer)
        case .idle, .receiving, .whole, .failed:
            return .leave(distrust("an answer came that nobody asked for"))
        }
    }

    private mutating func answeredWhole(_ answer: DownloadAnswer) -> Verdict {
        guard answer.status == 200 else { return .leave(refused(answer)) }
        return answer.callsItselfPart ? .leave(distrust(Self.partAsWhole)) : begin(answer)
    }

    private mutating func answeredRest(_ answer: DownloadAnswer) -> Verdict {
        switch answer.status {
        case 206: return part(answer)
        case 200: return wholeAgain(answer)
        case 416: return .leave(beyondEnd(answer))
        case 412: return .leave(distrust("the server takes `If-Range` amiss (412)"))
        case 400, 403, 406, 501: return .leave(restRefused(answer))
        default: return .leave(refused(answer))
        }
    }

    /// The file may be there for a request without `Range`, which a server or a proxy may not like.
    private mutating func restRefused(_ answer: DownloadAnswer) -> Step {
        guard ranges == .heeded else { return refused(answer) }
        ranges = .refused
        state = .idle
        return .again(after: .none, because: "the server answers \(answer.status) to a request for the rest")
    }

    /// 200 instead of a part: another version, or a server that does not send parts. Either way the whole file comes,
    /// unless the answer is from a stranger, such as a portal that wants a sign-in: that may pass, and the bytes that
    /// are there are worth more than what a stranger says about the size.
    private mutating func wholeAgain(_ answer: DownloadAnswer) -> Verdict {
        guard !isOfSamePlace(answer) || answer.validator == nil, doubts + 1 < Self.maximumDoubts else {
            return isPart(answer) ? .leave(distrust(Self.partAsWhole)) : begin(answer)
        }
        // No failure, or few failures allowed would keep the file from ever being believed to have moved.
        doubts += 1
        state = .idle
        let pause = Pause(length: limits.backOff.pause(after: doubts, remaining: remaining))
        return .leave(.again(after: pause, because: "something else than the file's server seems to answer"))
    }

    private static let partAsWhole = "the server calls a part of the file the whole"

    /// Whether a 200 to a request for the rest cannot be the whole: it says so itself, or has another length than the
    /// same version had.
    private func isPart(_ answer: DownloadAnswer) -> Bool {
        if answer.callsItselfPart { return true }
        guard let version, let validator = version.validator, let length = answer.bodyLength else { return false }
        return answer.validator == validator && ContentCoding.names(in: answer.head) == version.codings
            && length != version.length ?? length
    }

    /// Whether an answer comes from where the bytes that are there came from.
    private func isOfSamePlace(_ answer: DownloadAnswer) -> Bool {
        ResourceVersion.place(of: answer.url, askedFor: url) == version?.place
    }

    /// 200: the whole file, from its start.
    private mutating func begin(_ answer: DownloadAnswer) -> Verdict {
        if answer.bodyLength == 0, announced > 0 {
            return .leave(distrust(Self.suddenNothing))
        }
        guard answer.isFramed || limits.acceptsUnframed else {
            return .leave(
                fail(
                    DownloadError(
                        .unframedBody,
                        message: "the server announces no length, so that nobody can tell whether the file is whole; "
                            + "give `expectedSize` or a checksum, or set `acceptsUnframedBodies`")))
        }
        if let objection = answer.bodyLength.flatMap(limits.objection(to:)) { return .leave(fail(objection)) }
        if received > 0 {
            restarts += 1
            if let error = tooManyRestarts("the server began anew") { return .leave(fail(error)) }
        }
        received = 0
        isOfOnePiece = answer.isFramed
        let version = ResourceVersion(answer, askedFor: url)
        self.version = version
        announced = max(announced, version.length ?? 0)
        state = .receiving(end: version.length, isFramed: answer.isFramed)
        return .begin(version)
    }

    /// 206: the rest, if it really continues what is there.
    private mutating func part(_ answer: DownloadAnswer) -> Verdict {
        guard var version, let validator = version.validator else {
            return .leave(distrust("a part of nothing"))
        }
        if answer.isMultipart { return .leave(distrust("the server sends several parts")) }
        guard case .part(let first, let last, let total) = answer.range, first == received else {
            return .leave(distrust("the server sends another part than asked for"))
        }
        guard answer.isEncoded(like: version) else {
            return .leave(distrust("the server encodes the part otherwise than the beginning"))
        }
        guard isOfSamePlace(answer) else {
            return .leave(
                distrust("the rest would come from another place than the beginning"))
        }
        guard validator.isConfirmed(by: answer.head), let length = version.length ?? total,
            total ?? length == length, last < length, answer.bodyLength ?? (last - first + 1) == last - first + 1
        else { return .leave(distrust("the file has changed on the server")) }
        if let objection = limits.objection(to: length) { return .leave(fail(objection)) }
        resumptions += 1
        isOfOnePiece = false
        version.length = length
        self.version = version
        announced = max(announced, length)
        state = .receiving(end: last + 1, isFramed: answer.isFramed)
        return .append(version)
    }

    /// 416: there is no more, which is right if nothing is missing.
    private mutating func beyondEnd(_ answer: DownloadAnswer) -> Step {
        guard let version, let validator = version.validator, version.length == received,
            answer.range == .unsatisfied(total: received),
            answer.head.headerFields[.eTag] == nil
                || validator.isConfirmed(by: answer.head),
            isOfSamePlace(answer)
        else { return distrust("the file has shrunk or changed on the server (416)") }
        state = .whole
        return .complete
    }

    /// Any other status.
    private mutating func refused(_ answer: DownloadAnswer) -> Step {
        let status = answer.status
        refusal = status
        guard Self.isPassing(status) else {
            return fail(Self.unexpected(status, "the server answers \(status) and not with a file; check the URL"))
        }
        if let wanted = answer.retryAfter, let remaining, wanted > .zero, wanted >= remaining {
            return fail(
                Self.unexpected(
                    status,
                    "the server answers \(status) and asks for \(wanted) of patience, when \(remaining) are left until the "
                        + "deadline; try again later"))
        }
        let most = limits.backOff.maximumRetryAfter
        if let wanted = answer.retryAfter, wanted > most {
            return fail(
                Self.unexpected(
                    status,
                    "the server answers \(status) and asks for \(wanted) of patience, more than the \(most) allowed; try "
                        + "again later, or raise `backOff.maximumRetryAfter`"))
        }
        return tryAgain(
            after: nil, atLeast: answer.retryAfter ?? .zero, because: "the server answers \(status)"
        ) { Self.unexpected(status, $0) }
    }

    /// Whether a status is worth another attempt.
    static func isPassing(_ status: Int) -> Bool {
        switch status {
        case 408, 425, 429: true
        case 501, 505: false
        default: (500...599).contains(status)
        }
    }

    private static func unexpected(_ status: Int, _ message: String) -> DownloadError {
        var error = DownloadError(.unexpectedStatus, message: message)
        error.status = status
        return error
    }
}
