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
        guard maximum >= 0, timeout ?? .zero >= .zero else {
            handle.source.cancel()
            throw HTTPClientError(
                .invalidConfiguration, phase: .body, requestDisposition: .responseStarted,
                message: "the maximum (\(maximum)) or the timeout is negative; give zero or more")
        }
        var iterator = try unusedIterator()
        if case .length(let length) = framing, length > maximum { throw tooLarge(maximum, received: 0) }
        if let timeout { handle.source.limit(toRemaining: timeout) }
        var bytes: [UInt8] = []
        if case .length(let length) = framing { bytes.reserveCapacity(Int(clamping: Swift.min(length, Self.trusted))) }
        while let chunk = try await iterator.next() {
            guard bytes.count + chunk.count <= maximum else {
                throw tooLarge(maximum, received: Int64(bytes.count + chunk.count))
            }
            if bytes.count + chunk.count > bytes.capacity, case .length(let length) = framing {
                // What has come is a reason to believe in eight times as much.
                let believed = Swift.max(Int64(bytes.count + chunk.count), Swift.min(length, 8 * Int64(bytes.count)))
                bytes.reserveCapacity(Int(clamping: believed))
            }
            chunk.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// How many announced bytes are worth memory before they have come.
    private static var trusted: Int64 { 16 << 20 }

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
