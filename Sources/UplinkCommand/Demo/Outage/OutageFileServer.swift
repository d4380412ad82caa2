// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Foundation
import UplinkCore

/// The HTTP server of `uplink demo --outage`: one file, no faster than its pace, whole or from an offset on.
struct OutageFileServer: Sendable {
    static let path = "/disk.img"
    private static let tag = "\"disk-1\""
    let file: OutageFile
    /// The offset up to which it currently serves.
    let limit: Locked<Int>

    /// Serves for as long as `body` runs.
    func withServer(address: String, port: UInt16, _ body: () async throws -> Void) async throws {
        var routes = RoutedHTTPHandler()
        routes.appendRoute(HTTPRoute("GET \(Self.path)")) { answer(to: $0) }
        try await HTTPServer.running(at: .inet(ip4: address, port: port), routes) { _ in try await body() }
    }

    /// Answers a request; with a range only if the client has the same file.
    func answer(to request: FlyingFox.HTTPRequest) -> HTTPResponse {
        let range = ServedRange(of: request, tag: Self.tag, size: file.byteCount)
        let (status, headers) = range.head(tag: Self.tag, size: file.byteCount)
        guard let start = range.start else { return HTTPResponse(statusCode: status, headers: headers) }
        let bytes = PacedBytes(file: file, start: start, limit: limit)
        let body = HTTPBodySequence(from: bytes, count: file.byteCount - start, suggestedBufferSize: 131_072)
        return HTTPResponse(statusCode: status, headers: headers, body: body)
    }
}

/// A file's bytes from an offset on, no faster than the pace and no farther than the limit.
private struct PacedBytes: AsyncBufferedSequence {
    typealias Element = UInt8
    let file: OutageFile
    let start: Int
    let limit: Locked<Int>

    func makeAsyncIterator() -> Iterator { Iterator(bytes: self, offset: start) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        let bytes: PacedBytes
        var offset: Int
        private let begun = ContinuousClock.now

        init(bytes: PacedBytes, offset: Int) { (self.bytes, self.offset) = (bytes, offset) }

        mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

        mutating func nextBuffer(suggested count: Int) async throws -> ArraySlice<UInt8>? {
            guard offset < bytes.file.byteCount else { return nil }
            let due = begun + .seconds(Double(offset - bytes.start) / Double(OutageScript.pace))
            try await Task.sleep(until: due, clock: .continuous)
            var room = 0
            while true {
                room = bytes.limit.withLock { $0 } - offset
                if room > 0 { break }
                try await Task.sleep(for: .milliseconds(5))
            }
            let piece = bytes.file.piece(at: offset, upTo: Swift.min(count, room))
            offset += piece.count
            return piece
        }
    }
}
