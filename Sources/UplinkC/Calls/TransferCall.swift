// SPDX-License-Identifier: Apache-2.0
import CUplink
import HTTPTypes
import SystemPackage
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// A transfer that a program has asked for.
final class TransferCall: Call {
    /// Where the body goes.
    enum Target: Sendable {
        /// To a callback, piece by piece.
        case stream(uplink_body_cb)
        /// Into memory, up to a limit.
        case memory(limit: Int)
        /// To a file.
        case file(FilePath)
    }

    /// What has arrived so far.
    private struct Progress {
        var response: ResponseBox?
        var received: Int64 = 0
        var bytes: [UInt8] = []
        /// What the body callback last returned; nil when it was not called, because the call is not to be reported any
        /// more.
        var verdict: CInt?
    }

    private let task = CallTask()
    /// Raised when a body callback has run.
    private let told = Signal()
    /// Raised when a paused body may go on.
    private let resumed = Signal()
    private let progress = Locked(Progress())
    private let transfer: Transfer
    /// Reads the request's body, if the program gives it.
    private let reader: BodyReader?
    private let target: Target
    private let done: uplink_get_cb
    private let user: UserPointer

    init(_ transfer: Transfer, to target: Target, _ done: uplink_get_cb, _ user: UserPointer) {
        (self.transfer, self.target, self.done, self.user) = (transfer, target, done, user)
        if case .source(let source) = transfer.body { reader = BodyReader(source) } else { reader = nil }
    }

    func cancel() {
        task.cancel()
        told.end()
        resumed.end()
    }

    func resume() -> Bool {
        reader?.resume()
        guard case .stream = target else { return reader != nil }
        resumed.raise()
        return true
    }

    func start(_ id: CallMachine.ID, in context: Context) {
        task.start(on: context) {
            do {
                try await self.run(id, in: context)
                self.end(id, in: context, Status.ok, Status.text(Status.ok))
            } catch {
                let (status, message) = Self.explain(error, in: context)
                self.end(id, in: context, status, message)
            }
        }
    }

    private static func explain(_ error: any Error, in context: Context) -> (CInt, String) {
        switch error {
        case let error as HTTPClientError: return (Status.of(error), Advice.inC(error.description))
        case let error as NetworkOperationError: return (Status.of(error, in: context), Advice.inC(error.message))
        case let error as VerdictError: return (error.status, "the program's callback ended it, with \(error.status)")
        case let error as StatusError: return (error.status, Status.text(error.status))
        case is CancellationError:
            let status = context.cancellation
            return (status, Status.text(status))
        default: return (Status.transfer, "\(error)")
        }
    }

    private func run(_ id: CallMachine.ID, in context: Context) async throws {
        if case .file(let path) = target { try await context.loop.offLoop { try HTTPBody.checkTarget(path) } }
        guard let wait = transfer.wait else { return try await load(id, in: context) }
        let result = await context.performer.perform(withinSeconds: wait.seconds, requiring: wait.requirement) {
            try await self.load(id, in: context)
        }
        switch result {
        case .success: break
        case .failure(.notStarted(let error)): throw error
        case .failure(.operation(let error)): throw error
        }
    }

    private func load(_ id: CallMachine.ID, in context: Context) async throws {
        let client = HTTPClient(transport: context.transport, configuration: transfer.configuration)
        var options = transfer.options
        let sent = transfer.sent.map { SentReport($0, user, of: id, in: context) }
        options.observer = sent?.observer
        let response = try await client.execute(transfer.head, body: body(id, in: context), options: options)
        await sent?.settle()
        let box = ResponseBox(response)
        progress.withLock { $0.response = box }
        switch target {
        case .stream(let callback):
            try await tell(callback, box, nil, of: id, in: context)
            for try await chunk in response.body { try await tell(callback, box, chunk, of: id, in: context) }
        case .memory(let limit):
            let bytes = try await response.body.collect(upTo: limit, within: nil)
            progress.withLock { ($0.bytes, $0.received) = (bytes, Int64(bytes.count)) }
        case .file(let path):
            guard response.status == .ok else { return }
            let size = try await response.body.write(to: path, replacingExisting: transfer.replacesExisting)
            progress.withLock { $0.received = size }
        }
    }

    private func body(_ id: CallMachine.ID, in context: Context) -> HTTPRequestBody {
        var body: HTTPRequestBody
        switch transfer.body {
        case .none: body = .none
        case .bytes(let bytes): body = .bytes(bytes)
        case .file(let path): body = .file(path)
        case .source(let source):
            guard let reader else { return .none }
            let pieces = BodyPieces(reader: reader, id: id, context: context)
            body = .ownStream(pieces, length: source.length, isReplayable: source.canRewind)
        }
        body.expectsContinue = transfer.expectsContinue
        return body
    }

    /// Passes a piece, or only the head, to the body callback, and waits until it wants more.
    private func tell(
        _ callback: uplink_body_cb, _ box: ResponseBox, _ chunk: HTTPBody.Chunk?, of id: CallMachine.ID,
        in context: Context
    ) async throws {
        resumed.clear()
        progress.withLock { $0.verdict = nil }
        let event = CallMachine.Delivery(kind: .event(id)) { [self] in
            let verdict = box.withPointer { response in
                guard let chunk else { return callback(context.pointer, id, response, nil, 0, user.pointer) }
                return chunk.withUnsafeBytes {
                    callback(context.pointer, id, response, $0.baseAddress, $0.count, user.pointer)
                }
            }
            progress.withLock { progress in
                progress.verdict = verdict
                progress.received += Int64(chunk?.count ?? 0)
            }
            told.raise()
        } drop: { [told] in
            told.raise()
        }
        guard context.queue.update({ $0.post(event) }) else { throw CancellationError() }
        await told.wait()
        try Self.checkCancellation(of: id, in: context)
        switch progress.withLock({ $0.verdict }) {
        case nil: throw CancellationError()
        case UPLINK_CONTINUE: break
        case UPLINK_PAUSE:
            await resumed.wait()
            try Self.checkCancellation(of: id, in: context)
        case let verdict? where verdict < 0: throw VerdictError(status: verdict)
        default: throw StatusError(Status.invalid)
        }
    }

    /// Checks with the machine, which knows of a cancellation before the call's task does.
    private static func checkCancellation(of id: CallMachine.ID, in context: Context) throws {
        guard context.queue.update({ $0.isCancelled(id) }) == false else { throw CancellationError() }
    }

    private func end(_ id: CallMachine.ID, in context: Context, _ status: CInt, _ message: String) {
        let last = CallMachine.Delivery(kind: .end) { [self] in
            let response = progress.withLock { $0.response }
            guard let response else { return tellEnd(id, in: context, status, message, nil) }
            response.withPointer { tellEnd(id, in: context, status, message, $0) }
        }
        context.end(id, transfer.name, status, message, last)
    }

    private func tellEnd(
        _ id: CallMachine.ID, in context: Context, _ status: CInt, _ message: String, _ response: OpaquePointer?
    ) {
        let (bytes, received) = progress.withLock { ($0.bytes, $0.received) }
        bytes.withUnsafeBytes { bytes in
            message.withCString { message in
                var result = uplink_get_result(
                    size: MemoryLayout<uplink_get_result>.size, status: status, response: response,
                    bytes: bytes.isEmpty ? nil : bytes.baseAddress, count: bytes.count, received: received,
                    message: message)
                done(context.pointer, id, &result, user.pointer)
            }
        }
    }
}
