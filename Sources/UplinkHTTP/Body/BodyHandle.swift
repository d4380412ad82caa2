// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Synchronization

/// State shared by the copies of a body. Ends the transfer when the body is dropped before anybody has begun to read
/// it.
final class BodyHandle: Sendable {
    let framing: HTTPBody.Framing
    let contentLength: Int64?
    let source: any HTTPBodySource
    private let isClaimed = Atomic(false)

    init(framing: HTTPBody.Framing, contentLength: Int64?, source: any HTTPBodySource) {
        (self.framing, self.contentLength, self.source) = (framing, contentLength, source)
    }

    deinit { if !isClaimed.load(ordering: .relaxed) { source.cancel() } }

    /// Claims the right to read, which is given once: whoever gets it must end the transfer.
    func claim() -> Bool { !isClaimed.exchange(true, ordering: .relaxed) }

    /// Like ``claim()``, for a reader that ends the transfer by itself.
    func reader() -> BodyReader? { claim() ? BodyReader(source) : nil }
}

/// Ends the transfer when the iterator is dropped.
final class BodyReader: Sendable {
    let source: any HTTPBodySource

    init(_ source: any HTTPBodySource) { self.source = source }

    deinit { source.cancel() }
}
