// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// A source that decodes a body's chunks where they are read: on the reader's thread, and only as far as it reads.
final class DecodedSource: ForwardingBodySource {
    let inner: any HTTPBodySource
    private let machine: Locked<DecodingMachine>
    private let reader: BodyReader  // ends the transfer when released

    init(_ inner: any HTTPBodySource, _ machine: DecodingMachine, keeping reader: BodyReader) {
        self.inner = inner
        self.machine = Locked(machine)
        self.reader = reader
    }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        if Task.isCancelled {
            _ = try await inner.next()  // which throws once nothing of the transfer is left
            throw CancellationError()
        }
        do {
            while true {
                switch try machine.withLock({ try $0.step() }) {
                case .chunk(let chunk): return chunk
                case .end: return nil
                case .wantsInput:
                    let chunk = try await inner.next()
                    machine.withLock { $0.take(chunk) }
                }
            }
        } catch let fault as DecodingFault {
            throw inner.fail(error(fault))
        }
    }

    private func error(_ fault: DecodingFault) -> HTTPClientError {
        let (taken, received, made, maximumRatio) = machine.withLock {
            ($0.arrivedBytes, $0.receivedBytes, $0.made, $0.maximumRatio)
        }
        let (code, message): (HTTPClientError.Code, String) =
            switch fault {
            case .damaged: (.invalidEncoding, "the body is not of the coding that `Content-Encoding` names, or damaged")
            case .truncated:
                (.truncated, "the encoded body breaks off after \(taken) bytes (\(made) decoded); try again")
            case .expandsTooMuch:
                (
                    .compressionRatioExceeded,
                    "\(taken) bytes of the body became \(made), more than \(maximumRatio) times as many; "
                        + "if that is meant, raise `compressionRatio`"
                )
            }
        var error = HTTPClientError(code, phase: .body, requestDisposition: .responseStarted, message: message)
        error.receivedBytes = received
        return error
    }
}
