// SPDX-License-Identifier: Apache-2.0
import Uplink

/// A body with bytes in front of it, such as the head that it came with.
actor PrecededBody {
    private var first: [UInt8]?
    private var rest: HTTPBody.Iterator

    private init(_ first: [UInt8], _ rest: HTTPBody) {
        self.first = first
        self.rest = rest.makeAsyncIterator()
    }

    /// The bytes, then the body; only the body if there are no bytes.
    static func body(_ bytes: [UInt8], then body: HTTPBody) -> HTTPBody {
        guard !bytes.isEmpty else { return body }
        // The head of an answer to HEAD announces a length, but no body comes.
        let length = (body.framing == .none ? 0 : body.contentLength)?.addingReportingOverflow(Int64(bytes.count))
        let whole = PrecededBody(bytes, body)
        return HTTPBody(contentLength: length.flatMap { $0.overflow ? nil : $0.partialValue }) {
            try await whole.next()
        }
    }

    private func next() async throws -> [UInt8]? {
        if let first {
            self.first = nil
            return first
        }
        var iterator = rest
        let chunk = try await iterator.next()
        rest = iterator
        return chunk?.bytes
    }
}
