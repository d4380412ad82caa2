// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes
import UplinkCore

/// Content codings (RFC 9110, section 8.4). With the trait `Compression`, gzip and deflate are requested and decoded
/// here; without it none is requested, so none is accepted.
package enum ContentCoding: String, Sendable {
    case gzip, deflate

    /// The value of `Accept-Encoding`; nil if nothing can be decoded.
    static var accepted: String? {
        #if Compression
        "gzip, deflate"
        #else
        nil
        #endif
    }

    /// Returns a decoder, if there is one.
    package func decoder() -> (any ContentDecoder)? {
        #if Compression
        switch self {
        case .gzip: ZlibDecoder(.gzip)
        case .deflate: ZlibDecoder(.deflate)
        }
        #else
        nil
        #endif
    }

    /// The names of a response's codings in the order in which they were applied, without `identity`.
    package static func names(in response: HTTPResponse) -> [String] {
        response.headerFields[values: .contentEncoding]
            .flatMap { $0.split(separator: ",") }.map { $0.trimmingSpaces().lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
    }

    /// Returns the body as the caller is to get it: decoded, unless the caller asked for codings with a field of its
    /// own and so gets it as it arrived. A body of length zero needs no decoder, whatever the head says.
    ///
    /// - Throws: ``HTTPClientError/Code/unsupportedEncoding`` and ``HTTPClientError/Code/tooManyEncodings``; broken
    ///   content shows only while it is read.
    static func decoded(
        _ body: HTTPBody, of response: HTTPResponse, limits: HTTPLimits
    ) throws(HTTPClientError) -> HTTPBody {
        guard response.headerFields.contains(.contentEncoding), body.framing != .none, body.framing != .length(0),
            response.status != .noContent, response.status != .notModified
        else { return body }
        let names = names(in: response)
        guard !names.isEmpty else { return body }
        guard names.count <= limits.contentCodings else {
            throw failure(
                .tooManyEncodings,
                "the body is encoded \(names.count) times; `contentCodings` allows \(limits.contentCodings)")
        }
        guard let reader = body.handle.reader() else { return body }
        var source = reader.source
        let arrived = names.count > 1 ? Locked<Int64>(0) : nil
        for (place, name) in names.reversed().enumerated() {
            guard let decoder = ContentCoding(rawValue: name == "x-gzip" ? "gzip" : name)?.decoder() else {
                throw failure(
                    .unsupportedEncoding,
                    "the answer (status \(response.status.code)) is encoded (\(HTTPFields.printable(name))), which was "
                        + "not asked for and cannot be decoded (gzip and deflate can, with the package's trait "
                        + "`Compression`); send an `Accept-Encoding` of your own to get it as it comes, or have the "
                        + "server send the plain body")
            }
            let machine = DecodingMachine(
                decoder, maximumRatio: limits.compressionRatio, arrived: arrived, isFirst: place == 0)
            source = DecodedSource(source, machine, keeping: reader)
        }
        return HTTPBody(framing: body.framing.withoutLength, contentLength: nil, source: source)
    }

    private static func failure(_ code: HTTPClientError.Code, _ message: String) -> HTTPClientError {
        HTTPClientError(code, phase: .body, requestDisposition: .responseStarted, message: message)
    }
}

extension HTTPBody.Framing {
    /// The framing of a body whose length is not the announced one.
    fileprivate var withoutLength: Self {
        switch self {
        case .none, .untilClose: self
        case .length, .chunked: .chunked
        }
    }
}
