// SPDX-License-Identifier: Apache-2.0

/// How long each part of an exchange may take. Nil means no limit; fractions of a second count.
public struct HTTPTimeouts: Sendable, Hashable {
    private struct Parts: Hashable {
        var queue, connect, firstByte, stall, total: Duration?
    }

    private var parts: Shared<Parts>

    /// How long the transfer may wait for its turn in the transport.
    public var queue: Duration? {
        get { parts.value.queue }
        set { parts.value.queue = newValue }
    }
    /// From leaving the queue until the connection is established, including DNS and TLS.
    public var connect: Duration? {
        get { parts.value.connect }
        set { parts.value.connect = newValue }
    }
    /// From the end of the request (or from the connection, without a body) until the response head. With
    /// `expectsContinue`, up to one second more, while the body waits for 100 (Continue).
    public var firstByte: Duration? {
        get { parts.value.firstByte }
        set { parts.value.firstByte = newValue }
    }
    /// The longest pause without a byte of a body in either direction. It does not run while your own producer or
    /// reader is the cause.
    public var stall: Duration? {
        get { parts.value.stall }
        set { parts.value.stall = newValue }
    }
    /// The whole request, including queue, redirects and retries, until the last byte of the body. What a middleware
    /// waits for by itself counts, but is ended only in ``HTTPClientRequest/withinTotal(_:)``.
    public var total: Duration? {
        get { parts.value.total }
        set { parts.value.total = newValue }
    }

    /// Sets the timeouts. Parameters left out have their defaults.
    public init(
        queue: Duration? = nil, connect: Duration? = .seconds(10), firstByte: Duration? = .seconds(60),
        stall: Duration? = .seconds(30), total: Duration? = nil
    ) {
        parts = Shared(Parts(queue: queue, connect: connect, firstByte: firstByte, stall: stall, total: total))
    }

    /// - Throws: ``HTTPClientError`` when a timeout is negative.
    func validate() throws(HTTPClientError) {
        // One by one, like the limits.
        try Self.check("queue", queue)
        try Self.check("connect", connect)
        try Self.check("firstByte", firstByte)
        try Self.check("stall", stall)
        try Self.check("total", total)
    }

    private static func check(_ name: StaticString, _ timeout: Duration?) throws(HTTPClientError) {
        guard let timeout, timeout < .zero else { return }
        throw HTTPClientError(
            .invalidConfiguration, phase: .request,
            message: "the timeout `\(name)` is negative (\(timeout)); give zero or more, or nil for no limit")
    }
}
