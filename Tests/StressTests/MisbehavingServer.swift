// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Uplink

/// A server whose answer depends on the path that is asked for, and is seldom what it should be.
struct MisbehavingServer: Sendable {
    /// What it does with a request for the path of this name.
    enum Conduct: String, CaseIterable {
        case whole, chunked, slow, uploaded, redirected
        case closesAtOnce, resets, garbage, redirectsForever, stalls
        case truncated, cutChunk, stallsInTheBody, floods, refusesTheUpload, resetsTheUpload

        /// The first ones bring ``MisbehavingServer/body``, if anything; the others never do.
        var mayBeWhole: Bool {
            switch self {
            case .whole, .chunked, .slow, .uploaded, .redirected: true
            case .closesAtOnce, .resets, .garbage, .redirectsForever, .stalls, .truncated, .cutChunk,
                .stallsInTheBody, .floods, .refusesTheUpload, .resetsTheUpload:
                false
            }
        }

        /// Whether the request carries a body.
        var isUpload: Bool { self == .uploaded || self == .refusesTheUpload || self == .resetsTheUpload }
    }

    static let body = String(repeating: "storm ", count: 500)

    private let server: RawServer

    init() throws { server = try RawServer([.answer { Self.steps(for: $0) }, .loop]) }

    func url(_ conduct: Conduct) -> String { server.url("/\(conduct.rawValue)") }

    func stop() { server.stop() }

    private static let good = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
    private static let half = String(body.prefix(1500))

    private static func steps(for head: String) -> [RawServer.Step] {
        let path = head.split(separator: " ", maxSplits: 2).dropFirst().first.map { String($0.dropFirst()) }
        switch path.flatMap(Conduct.init) {
        case .whole: return [.send(good + body)]
        case .chunked: return [.send(chunkedHead), .send(chunk(half)), .send(chunk(half)), .send("0\r\n\r\n")]
        case .slow:
            return [
                .send(good), .pause(.milliseconds(2)), .send(half), .pause(.milliseconds(4)), .send(half),
            ]
        case .uploaded: return [.readBody(), .send(good + body)]
        case .redirected: return [redirect(to: .whole)]
        case .closesAtOnce: return [.close]
        case .resets: return [.reset]
        case .garbage: return [.send("This is not HTTP.\r\n\r\n"), .close]
        case .redirectsForever: return [redirect(to: .redirectsForever)]
        case .stalls: return [.waitForClose]
        case .truncated: return [.send(good + half), .close]
        case .cutChunk: return [.send(chunkedHead), .send(String(chunk(body).dropLast(10))), .close]
        case .stallsInTheBody: return [.send(good + half), .waitForClose]
        case .floods:
            return [.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"), .fill(1_000_000_000)]
        case .refusesTheUpload: return [.send("HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n"), .close]
        case .resetsTheUpload: return [.readSome(1000), .reset]
        case nil: return [.close]
        }
    }

    private static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func chunk(_ text: String) -> String {
        "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n"
    }

    private static func redirect(to conduct: Conduct) -> RawServer.Step {
        .send("HTTP/1.1 302 Found\r\nLocation: /\(conduct.rawValue)\r\nContent-Length: 0\r\n\r\n")
    }
}
