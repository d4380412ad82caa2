// SPDX-License-Identifier: Apache-2.0

extension HTTPBody {
    /// Reads the whole body into memory.
    ///
    /// - Parameters:
    ///   - maximum: The most bytes to accept. A larger body is not read any further, and one that announces itself as
    ///     larger is not read at all.
    ///   - timeout: How long reading may take from now; nil for no limit.
    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/bodyTooLarge`` when the body exceeds `maximum`, or as
    ///   the iterator does.
    public func collect(upTo maximum: Int, within timeout: Duration? = .seconds(60)) async throws -> [UInt8] {
        let source = try source(toCollect: maximum, within: timeout)
        defer { source.cancel() }
        if let body = source.gatherAtOnce(upTo: maximum) { return try bytes(of: body, atMost: maximum) }
        if let timeout { source.limit(toRemaining: timeout) }
        guard let body = try await source.gather(upTo: maximum, expecting: length) else {
            return try await gather(from: source, upTo: maximum)
        }
        return try bytes(of: body, atMost: maximum)
    }

    // These stand by themselves, so that nothing of what they hold is held while the body is awaited.

    /// The source, which nobody else may read.
    @inline(never)
    private func source(toCollect maximum: Int, within timeout: Duration?) throws(HTTPClientError) -> any HTTPBodySource
    {
        let source = handle.source
        guard maximum >= 0, timeout ?? .zero >= .zero else {
            source.cancel()
            throw HTTPClientError(
                .invalidConfiguration, phase: .body, requestDisposition: .responseStarted,
                message: "the maximum (\(maximum)) or the timeout is negative; give zero or more")
        }
        guard handle.claim() else { throw Self.alreadyUsed }
        if let length, length > maximum {
            source.cancel()
            throw tooLarge(maximum, received: 0)
        }
        return source
    }

    @inline(never)
    private func bytes(of body: GatheredBody, atMost maximum: Int) throws(HTTPClientError) -> [UInt8] {
        switch body {
        case .whole(let bytes): return bytes
        case .tooLarge(let received): throw tooLarge(maximum, received: Int64(received))
        }
    }

    @inline(never)
    private nonisolated(nonsending) func gather(
        from source: any HTTPBodySource, upTo maximum: Int
    ) async throws -> [UInt8] {
        var vessel = BodyVessel(upTo: maximum, expecting: length)
        while let chunk = try await source.next() {
            chunk.withUnsafeBytes { vessel.append($0) }
            if vessel.isOverfull { throw tooLarge(maximum, received: Int64(vessel.received)) }
        }
        return vessel.take()
    }

    /// How many bytes there will be, where the head says so.
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

    /// Reads a short body to its end, so that its connection can be used again; lets go of any other, and of one that is
    /// slow to come.
    package func discardIfShort() async {
        switch framing {
        case .none: break
        case .length(let length) where length <= 16 * 1024:
            handle.source.limit(toRemaining: .seconds(1))
            var iterator = makeAsyncIterator()
            while let chunk = try? await iterator.next(), chunk.count > 0 {}
        case .length, .chunked, .untilClose: handle.source.cancel()
        }
    }
}
