// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore
import UplinkHTTP

/// What to resume when the turn ends, outside any lock and C frame.
enum Resumption {
    /// A task that waits for a head, for a body, or for room for a request's body.
    case task(Suspension)
    /// A body that is over, and its reader.
    case bodyEnd(BodyEnd)
    /// The producer of a request's body that is no longer wanted.
    case uploadEnd(UploadEnd)

    func resume() {
        switch self {
        case .task(let suspension): suspension.resume()
        case .bodyEnd(let end): end.finish()?.resume()
        case .uploadEnd(let end): end.perform()
        }
    }
}

/// How a body ends.
struct BodyEnd {
    private let mailbox: Mailbox
    private let error: (any Error)?
    private let trailerFields: HTTPFields

    init(_ mailbox: Mailbox, _ error: (any Error)?, _ trailerFields: HTTPFields) {
        (self.mailbox, self.error, self.trailerFields) = (mailbox, error, trailerFields)
    }

    /// Ends the body, and returns its reader if that is waiting.
    func finish() -> Suspension? { mailbox.finish(throwing: error, trailerFields: trailerFields) }
}
