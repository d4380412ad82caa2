// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// A server of one file, which does its work well unless it is told otherwise, and can be stopped and started again.
package final class FileServer: Sendable {
    /// What the file is now.
    package struct Version: Sendable, Equatable {
        package var content: [UInt8]
        package var tag: String?
    }

    /// What it does with a request.
    package enum Conduct: Sendable {
        /// What it should (RFC 9110, sections 13 and 14).
        case honest
        /// It sends so many bytes of the body and then closes, or resets, the connection.
        case cut(after: Int, reset: Bool = false)
        /// It sends so many bytes of the body, and no more.
        case hold(after: Int)
        /// It sends a body in pieces, with a pause after each.
        case slow(piece: Int, pause: Duration)
        /// It sends the whole, whatever part was asked for.
        case ignoringRange
        /// It changes its own good head before it sends it.
        case lying(@Sendable (String) -> String)
        /// Anything.
        case raw(String)
        /// It leads elsewhere.
        case redirect(to: String)
    }

    private struct State {
        var version: Version
        var conduct: [Conduct]
        var requests: [String] = []
        var server: RawServer?
    }

    private let state: Locked<State>
    private let address: String
    package let port: UInt16

    /// - Parameter conduct: What it does with one request after the other; with all that follow it is honest.
    package init(_ content: [UInt8], tag: String? = "\"v1\"", address: String = "127.0.0.1", _ conduct: Conduct...)
        throws
    {
        state = Locked(State(version: Version(content: content, tag: tag), conduct: conduct))
        self.address = address
        port = try FreePort.take()  // which is free again after a stop
        try start()
    }

    package func url(_ path: String = "/disk.iso", host: String = "127.0.0.1") -> String {
        "http://\(host):\(port)\(path)"
    }

    /// The heads of all requests.
    package var requests: [String] { state.withLock { $0.requests } }

    /// What they asked for.
    package var ranges: [String?] { requests.map { Self.field("range", in: $0) } }

    /// Changes the file.
    package func change(to content: [UInt8], tag: String?) {
        state.withLock { $0.version = Version(content: content, tag: tag) }
    }

    /// Says what it does with the next requests.
    package func next(_ conduct: Conduct...) { state.withLock { $0.conduct += conduct } }

    package func start() throws {
        // The port may not be free yet: a program that another thread starts has the former listener until its
        // execve(2).
        for attempt in 1... {
            do {
                let server = try RawServer(
                    [.answer { [unowned self] in self.steps(for: $0) }], address: address, port: port)
                return state.withLock { $0.server = server }
            } catch let error as SetupFailure where error.errno == EADDRINUSE && attempt < 500 {
                usleep(10_000)
            }
        }
    }

    /// Ends it, with all its connections.
    package func stop() {
        state.withLock { state in
            defer { state.server = nil }
            return state.server
        }?.stop()
    }

    private func steps(for head: String) -> [RawServer.Step] {
        let (version, conduct) = state.withLock { state in
            state.requests.append(head)
            return (state.version, state.conduct.isEmpty ? .honest : state.conduct.removeFirst())
        }
        let (answer, body) = Self.answer(to: head, version)
        switch conduct {
        case .honest: return [.send(answer), .send(Array(body))]
        case .cut(let count, let reset):
            return [.send(answer), .send(Array(body.prefix(count)))]
                + (reset ? [.pause(.milliseconds(20)), .reset] : [])
        case .hold(let count):
            return [.send(answer), .send(Array(body.prefix(count))), .waitForClose]
        case .slow(let piece, let pause):
            return [.send(answer)]
                + stride(from: body.startIndex, to: body.endIndex, by: piece).flatMap { start -> [RawServer.Step] in
                    [.send(Array(body[start..<min(start + piece, body.endIndex)])), .pause(pause)]
                }
        case .ignoringRange:
            let (answer, body) = Self.answer(to: "", version)
            return [.send(answer), .send(Array(body))]
        case .lying(let lie): return [.send(lie(answer)), .send(Array(body))]
        case .raw(let text): return [.send(text)]
        case .redirect(let location):
            return [
                .send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            ]
        }
    }

    /// The head and the body that are right.
    private static func answer(to request: String, _ version: Version) -> (String, ArraySlice<UInt8>) {
        let size = version.content.count
        let tag = version.tag.map { "ETag: \($0)\r\n" } ?? ""
        func head(_ status: String, _ length: Int, _ more: String = "") -> String {
            "HTTP/1.1 \(status)\r\nContent-Length: \(length)\r\n\(tag)\(more)Connection: close\r\n\r\n"
        }
        let isSame = field("if-range", in: request).map { $0 == version.tag } ?? true
        guard isSame, let range = field("range", in: request), let from = Int(range.dropFirst(6).prefix { $0 != "-" })
        else {
            return (head("200 OK", size), version.content[...])
        }
        guard from < size else {
            return (head("416 Range Not Satisfiable", 0, "Content-Range: bytes */\(size)\r\n"), [])
        }
        return (
            head("206 Partial Content", size - from, "Content-Range: bytes \(from)-\(size - 1)/\(size)\r\n"),
            version.content[from...]
        )
    }

    private static func field(_ name: String, in head: String) -> String? {
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
        return line.map { String($0.dropFirst(name.utf8.count + 2)) }
    }
}
