// SPDX-License-Identifier: Apache-2.0

extension HTTPTransportResponse {
    /// The exchange whose end is the response's end: the one that brought it, or that of its body if a middleware
    /// assembled the response. Nil if nothing of it came from a server.
    var teller: UInt64? { exchange ?? (body.handle.source as? WitnessedSource)?.exchange }
}

/// A body's source with a witness, whose errors include the number of attempts.
final class WitnessedSource: ForwardingBodySource {
    private let reader: BodyReader
    var inner: any HTTPBodySource { reader.source }
    private let witness: ExchangeWitness?
    private let complete: @Sendable (HTTPClientError) -> HTTPClientError
    var exchange: UInt64? { witness?.exchange }

    init(
        _ reader: BodyReader, witness: ExchangeWitness?,
        completing complete: @escaping @Sendable (HTTPClientError) -> HTTPClientError
    ) {
        self.reader = reader
        self.witness = witness
        self.complete = complete
    }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        do {
            let chunk = try await inner.next()
            if chunk == nil { witness?.bodyEnded() }
            return chunk
        } catch let error as HTTPClientError {
            let error = complete(error)
            witness?.failed(error)
            throw error
        } catch {
            witness?.failed(error)
            throw error
        }
    }

    func cancel() {
        inner.cancel()
        witness?.abandoned()
    }

    func fail(_ error: HTTPClientError) -> HTTPClientError {
        let error = complete(error)
        witness?.failed(error)
        inner.cancel()
        return error
    }

    func decline() { witness?.decline() }
}
