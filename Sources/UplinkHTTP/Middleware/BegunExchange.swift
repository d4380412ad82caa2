// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// A request on its way through a transport, as an object for the reason given at ``HTTPHops``.
final class BegunExchange: Sendable {
    private let exchange: any TransportExchange
    private let attempt: Attempt

    init(_ exchange: any TransportExchange, _ attempt: Attempt) {
        (self.exchange, self.attempt) = (exchange, attempt)
    }

    /// Sends the request and returns when the final head has arrived, or when there will be none. Called once.
    ///
    /// Its closures capture this object alone, and so need no room.
    @inline(__always)
    nonisolated(nonsending) func run() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { exchange.start(Suspension($0)) }
        } onCancel: {
            exchange.cancel()
        }
    }

    @inline(never)
    func takeResponse() throws -> HTTPTransportResponse {
        do {
            var response = try exchange.takeResponse()
            attempt.conclude(&response)
            return response
        } catch {
            throw attempt.failed(error)
        }
    }
}
