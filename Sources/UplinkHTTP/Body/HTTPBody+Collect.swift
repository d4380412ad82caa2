// SPDX-License-Identifier: Apache-2.0

extension HTTPBody {
    /// Reads the whole body into memory.
    ///
    /// - Parameters:
    ///   - maximum: The most bytes to accept. A larger body is not read any further; one whose announced length is
    ///     larger is not read at all.
    ///   - timeout: How long reading may take from now; nil for no limit.
    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/bodyTooLarge`` when the body exceeds `maximum`, or the
    ///   same errors as the iterator.
    public nonisolated(nonsending) func collect(
        upTo maximum: Int, within timeout: Duration? = .seconds(60)
    ) async throws -> [UInt8] {
        guard let mailbox = try mailbox(toCollect: maximum, within: timeout) else {
            return try await collectChunks(upTo: maximum, within: timeout)
        }
        defer { handle.source.cancel() }
        if let body = mailbox.gatherAtOnce(upTo: maximum) { return try bytes(of: body, atMost: maximum) }
        limit(timeout)
        return try bytes(of: try await mailbox.gather(upTo: maximum, expecting: length), atMost: maximum)
    }

    // These are separate functions so that nothing they hold is kept while the body is awaited.

    /// Claims the body, and returns where all of it can be had in one piece.
    @inline(never)
    private func mailbox(
        toCollect maximum: Int, within timeout: Duration?
    ) throws(HTTPClientError) -> Mailbox? {
        guard handle.claim() else { throw Self.alreadyUsed }
        guard maximum >= 0, timeout ?? .zero >= .zero else {
            handle.source.cancel()
            throw HTTPClientError(
                .invalidConfiguration, phase: .body, requestDisposition: .responseStarted,
                message: "the maximum (\(maximum)) or the timeout is negative; give zero or more")
        }
        if let length, length > maximum {
            handle.source.cancel()
            throw tooLarge(maximum, received: 0)
        }
        return handle.source.bodyMailbox
    }

    @inline(never)
    private func limit(_ timeout: Duration?) {
        if let timeout { handle.source.limit(toRemaining: timeout) }
    }

    @inline(never)
    private func bytes(of body: GatheredBody, atMost maximum: Int) throws(HTTPClientError) -> [UInt8] {
        switch body {
        case .whole(let bytes): return bytes
        case .tooLarge(let received): throw tooLarge(maximum, received: Int64(received))
        }
    }

    @inline(never)
    private nonisolated(nonsending) func collectChunks(
        upTo maximum: Int, within timeout: Duration?
    ) async throws -> [UInt8] {
        defer { handle.source.cancel() }
        limit(timeout)
        return try await gatherChunks(upTo: maximum)
    }

    /// On no actor, because decoding takes time.
    @concurrent
    private func gatherChunks(upTo maximum: Int) async throws -> [UInt8] {
        var buffer = WholeBodyBuffer(upTo: maximum, expecting: length)
        while let chunk = try await handle.source.next() {
            chunk.withUnsafeBytes { buffer.append($0) }
            if buffer.isOverfull { throw tooLarge(maximum, received: Int64(buffer.received)) }
        }
        return buffer.take()
    }

    /// The length of the body, if the head gives it.
    private var length: Int64? {
        guard case .length(let length) = framing else { return nil }
        return length
    }

    @inline(never)
    private func tooLarge(_ maximum: Int, received: Int64) -> HTTPClientError {
        var error = HTTPClientError(
            .bodyTooLarge, phase: .body, requestDisposition: .responseStarted,
            message: "the body is larger than the \(maximum) bytes allowed; raise the maximum, or write it to a file")
        error.receivedBytes = received
        error.expectedBytes = contentLength
        return error
    }

    /// Reads a short body to its end, so that its connection can be used again. Drops any other body, and one that is
    /// slow to arrive.
    package func discardIfShort(within limit: Duration = Self.longestDiscarding) async {
        if case .none = framing { return }
        guard mayBeShort else { return handle.source.cancel() }
        handle.source.decline()
        handle.source.limit(toRemaining: limit)
        var iterator = makeAsyncIterator()
        var left = Self.short
        while left >= 0, let chunk = try? await iterator.next(), chunk.count > 0 { left -= chunk.count }
    }

    /// How long a body is read just to reuse its connection.
    package static var longestDiscarding: Duration { .seconds(1) }

    /// The longest body that is read just to reuse its connection.
    fileprivate static var short: Int { 16 * 1024 }

    /// Whether the body is worth reading just to reuse its connection.
    fileprivate var mayBeShort: Bool {
        switch framing {
        case .none: true
        case .length(let length): length <= Self.short && handle.source.heedsLimit
        case .chunked: handle.source.heedsLimit
        case .untilClose: false  // its connection is closed anyway
        }
    }
}

extension HTTPTransportResponse {
    /// Returns the response with its body in memory, its connection released; nil if the body is long, slow or broken.
    func inMemoryIfShort() async -> HTTPTransportResponse? {
        guard body.mayBeShort else {
            body.handle.source.cancel()
            return nil
        }
        if case .none = body.framing { return self }  // nothing follows that could be in the way
        body.handle.source.decline()
        guard let bytes = try? await body.collect(upTo: HTTPBody.short, within: HTTPBody.longestDiscarding) else {
            return nil
        }
        var response = self
        response.body = HTTPBody(
            framing: body.framing, contentLength: body.contentLength,
            source: KeptBody(HTTPBody.Chunk(bytes), trailerFields: body.trailerFields))
        return response
    }
}
