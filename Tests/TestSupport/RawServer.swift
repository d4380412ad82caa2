// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage
import UplinkCore

/// A TCP server that follows a script, byte for byte, and records what it saw. A thread for each connection.
package final class RawServer: Sendable {
    /// What to do on a connection, in order. At the end of the script the connection is closed.
    package enum Step: Sendable {
        /// Read a request's head.
        case readHead
        /// Read the body of that request (Content-Length or chunks), with a pause after every 64 KiB.
        case readBody(pausing: Duration? = nil)
        /// Read so many bytes of the body.
        case readSome(Int)
        /// Send these bytes.
        case send([UInt8])
        /// Send this many bytes of the letter `x`, as fast as they are taken.
        case fill(Int)
        /// Do nothing for a while.
        case pause(Duration)
        /// Do nothing until the client closes the connection.
        case waitForClose
        /// Do nothing until the client closes the connection, and leave unread what it sends.
        case waitForCloseWithoutReading
        /// Close with RST.
        case reset
        /// Close in the usual way, though the script may go on.
        case close
        /// Begin again with the script's first step, on the same connection.
        case loop
        /// Read a request's head, and take the steps that it calls for, which end with the connection or go on here.
        case answer(@Sendable (_ head: String) -> [Step])

        package static func send(_ text: String) -> Self { .send(Array(text.utf8)) }
    }

    /// What one connection brought.
    package struct Connection: Sendable {
        /// The heads that were read.
        package var heads: [String] = []
        /// The bodies that were read by ``Step/readBody(pausing:)``, the last one perhaps in part.
        package var bodies: [BodyRecord] = []
        /// Whether the last body came whole.
        package var isBodyWhole = false
        /// When the client closed the connection, as far as the script came to notice.
        package var closedAt: ContinuousClock.Instant?
        /// Bytes sent by ``Step/fill(_:)``.
        package var filled = 0
    }

    /// The port on 127.0.0.1.
    package var port: UInt16 { listener.port }
    private let listener: Listener
    private let brought = Locked<[Connection]>([])

    /// Starts a server. The script is chosen by the number of the connection, from zero; the last one goes on.
    package convenience init(_ scripts: [Step]...) throws { self.init(scripts, try Listener()) }

    /// Starts a server on a socket in the file system.
    package convenience init(_ script: [Step], at path: FilePath) throws {
        self.init([script], try Listener(at: path))
    }

    /// Starts a server on an address and a port that are known, as one that starts again.
    package convenience init(_ scripts: [Step]..., address: String, port: UInt16 = 0) throws {
        self.init(scripts, try Listener(address: address, port: port))
    }

    private init(_ scripts: [[Step]], _ listener: Listener) {
        self.listener = listener
        listener.start { [unowned self] descriptor in
            let number = self.brought.withLock { connections in
                connections.append(Connection())
                return connections.count - 1
            }
            let script = scripts[min(number, scripts.count - 1)]
            return { [unowned self] in self.play(script, on: descriptor, number) }
        }
    }

    /// A server that answers everything alike, with a head and a body.
    package convenience init(answering head: String, body: String = "") throws {
        try self.init([.readHead, .send("\(head)\r\n\r\n\(body)"), .loop])
    }

    /// The URL of a path.
    package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// What the connections brought so far.
    package var connections: [Connection] { brought.withLock { $0 } }

    /// All heads of all connections.
    package var heads: [String] { connections.flatMap(\.heads) }

    /// All bodies of all connections.
    package var bodies: [BodyRecord] { connections.flatMap(\.bodies) }

    /// Ends the server and its threads. Call it once, at the end of the test.
    package func stop() { listener.stop() }

    // MARK: The script

    /// False when the connection is over.
    @discardableResult
    private func play(_ script: [Step], on descriptor: CInt, _ number: Int) -> Bool {
        var place = 0
        while place < script.count {
            switch script[place] {
            case .readHead:
                guard let head = readHead(descriptor) else { return over(number) }
                note(number) { $0.heads.append(head) }
            case .readBody(let pause): guard readBody(descriptor, number, pause) else { return over(number) }
            case .readSome(let count):
                guard BodyReader(descriptor: descriptor, note: { _ in }).read(count) else { return over(number) }
            case .send(let bytes): guard LoopbackSocket.send(bytes, to: descriptor) else { return over(number) }
            case .fill(let count): guard fill(count, descriptor, number) else { return false }
            case .pause(let duration): usleep(UInt32(duration / .microseconds(1)))
            case .waitForClose:
                var byte: UInt8 = 0
                while recv(descriptor, &byte, 1, 0) > 0 {}
                note(number) { $0.closedAt = .now }
            case .waitForCloseWithoutReading:
                var poll = pollfd(fd: descriptor, events: 0x2000, revents: 0)  // POLLRDHUP, which Glibc hides
                while Glibc.poll(&poll, 1, -1) < 0, errno == EINTR {}
                note(number) { $0.closedAt = .now }
            case .reset:
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
                return false
            case .close: return false
            case .loop:
                place = 0
                continue
            case .answer(let steps):
                guard let head = readHead(descriptor) else { return over(number) }
                note(number) { $0.heads.append(head) }
                guard play(steps(head), on: descriptor, number) else { return false }
            }
            place += 1
        }
        return true
    }

    private func over(_ number: Int) -> Bool {
        note(number) { $0.closedAt = .now }
        return false
    }

    private func fill(_ count: Int, _ descriptor: CInt, _ number: Int) -> Bool {
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 64 * 1024)
        var left = count
        while left > 0 {
            let taken = min(left, piece.count)
            guard LoopbackSocket.send(Array(piece[..<taken]), to: descriptor) else {
                note(number) { $0.closedAt = .now }
                return false
            }
            left -= taken
            note(number) { $0.filled += taken }
        }
        return true
    }

    private func readBody(_ descriptor: CInt, _ number: Int, _ pause: Duration?) -> Bool {
        var head = ""
        note(number) { connection in
            head = connection.heads.last ?? ""
            connection.isBodyWhole = false
            connection.bodies.append(BodyRecord())
        }
        let reader = BodyReader(descriptor: descriptor, pause: pause) { bytes in
            self.note(number) { $0.bodies[$0.bodies.count - 1].append(bytes) }
        }
        let isWhole = reader.read(after: head)
        note(number) { connection in
            connection.bodies[connection.bodies.count - 1].finish()
            connection.isBodyWhole = isWhole
        }
        return isWhole
    }

    private func note(_ number: Int, _ change: (inout Connection) -> Void) {
        brought.withLock { change(&$0[number]) }
    }

    private func readHead(_ descriptor: CInt) -> String? {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1 {
            head.append(byte)
            if head.suffix(4) == [13, 10, 13, 10] { return String(decoding: head, as: UTF8.self) }
        }
        return nil
    }
}
