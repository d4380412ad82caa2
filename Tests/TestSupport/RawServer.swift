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
    package let port: UInt16
    private let listener: CInt
    private let state = Locked(State())

    private struct State {
        var connections: [Connection] = []
        var descriptors: Set<CInt> = []
        var threads: [PlainThread] = []
    }

    /// Starts a server. The script is chosen by the number of the connection, from zero; the last one goes on.
    package init(_ scripts: [Step]...) throws {
        let (listener, port) = try Self.listen(backlog: 128)
        (self.listener, self.port) = (listener, port)
        spawn { [unowned self] in self.accept(scripts) }
    }

    /// Starts a server on a socket in the file system.
    package init(_ script: [Step], at path: FilePath) throws {
        (listener, port) = (try Self.listen(at: path), 0)
        spawn { [unowned self] in self.accept([script]) }
    }

    /// Starts a server on an address and a port that are known, as one that starts again.
    package init(_ scripts: [Step]..., address: String, port: UInt16 = 0) throws {
        let (listener, port) = try Self.listen(backlog: 128, address: address, port: port)
        (self.listener, self.port) = (listener, port)
        spawn { [unowned self] in self.accept(scripts) }
    }

    /// A server that answers everything alike, with a head and a body.
    package convenience init(answering head: String, body: String = "") throws {
        try self.init([.readHead, .send("\(head)\r\n\r\n\(body)"), .loop])
    }

    /// The URL of a path.
    package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// What the connections brought so far.
    package var connections: [Connection] { state.withLock { $0.connections } }

    /// All heads of all connections.
    package var heads: [String] { connections.flatMap(\.heads) }

    /// All bodies of all connections.
    package var bodies: [BodyRecord] { connections.flatMap(\.bodies) }

    /// Ends the server and its threads. Call it once, at the end of the test.
    package func stop() {
        shutdown(listener, CInt(SHUT_RDWR))
        state.withLock { $0.threads.first }?.join()
        close(listener)
        let threads = state.withLock { state in
            // With the lock held, lest a number be closed meanwhile and be another test's.
            for descriptor in state.descriptors { shutdown(descriptor, CInt(SHUT_RDWR)) }
            return state.threads.dropFirst()
        }
        for thread in threads { thread.join() }
    }

    // MARK: Threads

    private func accept(_ scripts: [[Step]]) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            if descriptor < 0, errno == EINTR { continue }
            guard descriptor >= 0 else { return }
            // A program that another test starts would keep the connection open.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let number = state.withLock { state in
                state.descriptors.insert(descriptor)
                state.connections.append(Connection())
                return state.connections.count - 1
            }
            let script = scripts[min(number, scripts.count - 1)]
            spawn { [unowned self] in
                self.play(script, on: descriptor, number)
                self.state.withLock { _ = $0.descriptors.remove(descriptor) }
                close(descriptor)
            }
        }
    }

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
            case .send(let bytes): guard send(bytes, to: descriptor) else { return over(number) }
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
            guard send(Array(piece[..<taken]), to: descriptor) else {
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
        state.withLock { change(&$0.connections[number]) }
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

    private func send(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                bytes.baseAddress.map {
                    Glibc.send(descriptor, $0.advanced(by: sent), bytes.count - sent, CInt(MSG_NOSIGNAL))
                } ?? 0
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func spawn(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.threads.append(PlainThread(body)) }
    }
}

extension RawServer {
    /// What a test's server could not get.
    package struct Failure: Error {
        package let activity: String
        package let errno: CInt

        package init(activity: String, errno: CInt) { (self.activity, self.errno) = (activity, errno) }
    }

    /// A listening socket on a free port of 127.0.0.1, or of another address of the loopback network.
    package static func listen(backlog: CInt, address: String = "127.0.0.1", port: UInt16 = 0) throws -> (CInt, UInt16)
    {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(activity: "socket", errno: errno) }
        var yes: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = inet_addr(address)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                guard bind(descriptor, name, size) == 0, Glibc.listen(descriptor, backlog) == 0 else { return errno }
                return getsockname(descriptor, name, &size) == 0 ? 0 : errno
            }
        }
        guard status == 0 else {
            close(descriptor)
            throw Failure(activity: "listen on \(address):\(port)", errno: status)
        }
        return (descriptor, UInt16(bigEndian: name.sin_port))
    }

    /// Connects to a server on 127.0.0.1; nil if there is none.
    static func connect(to port: UInt16) -> CInt? {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard let loopback = IPAddress("127.0.0.1") else { return nil }
        var name = SocketAddress(loopback, port: port)
        guard name.withSockaddr({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func listen(at path: FilePath) throws -> CInt {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.string.utf8) }
        let status = withUnsafePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, Glibc.listen(descriptor, 128) == 0 else {
            close(descriptor)
            throw Failure(activity: "listen at \(path)", errno: errno)
        }
        return descriptor
    }
}
