// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import HTTPTypes
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// A transfer as its owner sees it: an id, a mailbox, and messages to the engine. For use on any thread.
final class Exchange: HTTPBodySource, TransportExchange {
    let id: UInt64
    let request: HTTPTransportRequest
    /// Whether libcurl may send it again by itself.
    let mayBeRepeated: Bool
    private let body: PreparedBody
    /// The owner's priority, for the producer of the body. It is a number because a `TaskPriority` has its size only at
    /// run time.
    private let priority: UInt8
    let mailbox: Mailbox
    private let engine: CurlEngine
    private let owner: CurlTransport  // a transport lives as long as its transfers

    init(id: UInt64, request: HTTPTransportRequest, body: PreparedBody, engine: CurlEngine, owner: CurlTransport) {
        self.id = id
        self.request = request
        mayBeRepeated = request.mayBeRepeated
        self.body = body
        priority = if case .production = body.content { Task.currentPriority.rawValue } else { 0 }
        self.engine = engine
        self.owner = owner
        let highMark = request.limits.bufferedBytes
        mailbox = Mailbox(
            id, of: engine, lowMark: TransferMachine.lowMark(below: highMark, piece: Int(CURL_MAX_WRITE_SIZE)),
            plenty: highMark - highMark / 4, budget: engine.budget)
    }

    /// Makes the engine carry the request.
    func start(_ waiter: Suspension) {
        engine.eventLoop.execute { [self] in engine.enter(with: { $0.submit($1.0, $1.1) }, (self, waiter)) }
    }

    /// Does the same, and returns when the head is there, or the reason why there is none.
    nonisolated(nonsending) func run() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { start(Suspension($0)) }
        } onCancel: {
            cancel()
        }
    }

    /// Creates the upload of the request's body; called by the engine, once.
    func makeUpload() -> Upload? {
        switch body.content {
        case .none: return nil
        case .bytes, .production:
            return Upload(body, on: engine.eventLoop, priority: TaskPriority(rawValue: priority)) { [engine, id] in
                engine.post { $0.feed(id) }
            }
        }
    }

    /// Whether the owner has cancelled; checked when the transfer is submitted.
    var isCancelled: Bool { mailbox.isCancelled }

    /// The answer. Valid once the owner has been resumed.
    @inline(never)  // inlined, it would take room where the answer is awaited
    func takeResponse() throws -> HTTPTransportResponse {
        guard let head = try mailbox.takeHead()?.get() else { throw CurlFailure.noHead }
        return HTTPTransportResponse(head, source: self)
    }

    var trailerFields: HTTPFields? { mailbox.trailerFields }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        try await mailbox.next()
    }

    var bodyMailbox: Mailbox? { mailbox }

    func cancel() { mailbox.cancel() }

    func limit(toRemaining total: Duration) {
        guard !mailbox.isOver else { return }
        engine.post { [id] in $0.limit(id, toRemaining: total) }
    }

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        do {
            return try await engine.eventLoop.offLoop(work)
        } catch {
            throw known(error)
        }
    }

    func performBlocking<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result,
        completion: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
        engine.eventLoop.offLoop(work) { [self] in completion($0.mapError(known)) }
    }

    /// What blocks is done for a body, once its head is there.
    private func known(_ error: any Error) -> any Error {
        guard let error = error as? EventLoopError else { return error }
        return CurlFailure.noLoop(error, phase: .sink, requestDisposition: .responseStarted)
    }
}

extension CurlEngine: MailboxSupplier {
    nonisolated func demand(for id: UInt64) { post { $0.demand(id) } }

    /// Cancels a transfer. Neither blocks nor resumes: only the engine's own thread ends transfers.
    nonisolated func stop(_ id: UInt64) { post { $0.cancel(id) } }

    nonisolated var isOnFillingThread: Bool { eventLoop.isCurrent }
}
