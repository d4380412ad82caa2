// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// A proxy on a free port of 127.0.0.1, HTTP or SOCKS 4a and 5. For it every name is 127.0.0.1.
package final class TestProxy: Sendable {
    package enum Kind: Sendable {
        /// CONNECT, and whole URLs.
        case http
        /// SOCKS 4a and 5.
        case socks
    }

    package var port: UInt16 { listener.port }
    /// `user:password`, where they are asked for.
    private let credentials: String?
    private let refuses: Locked<Bool>
    private let listener: Listener
    private let asked = Locked<[String]>([])

    package init(_ kind: Kind, credentials: String? = nil, isRefusing: Bool = false) throws {
        (self.credentials, refuses) = (credentials, Locked(isRefusing))
        listener = try Listener()
        listener.start { [unowned self] client in
            {
                switch kind {
                case .http: self.serveHTTP(client)
                case .socks: self.serveSOCKS(client)
                }
            }
        }
    }

    /// What was asked for: heads of HTTP, or `host:port` of SOCKS with `resolved here` or `resolved there`.
    package var seen: [String] { asked.withLock { $0 } }

    package func stop() { listener.stop() }

    /// From here on it lets nobody through.
    package func refuse() { refuses.withLock { $0 = true } }

    private var isRefusing: Bool { refuses.withLock { $0 } }

    private func note(_ text: String) { asked.withLock { $0.append(text) } }

    // MARK: HTTP

    private func serveHTTP(_ client: CInt) {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard let byte = read(client, 1)?.first else { return }
            head.append(byte)
        }
        let text = String(decoding: head, as: UTF8.self)
        note(text)
        if let credentials, !text.contains("Proxy-Authorization: Basic \(Self.base64(Array(credentials.utf8)))\r\n") {
            return write(client, "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n")
        }
        if isRefusing { return write(client, "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") }
        let words = text.split(separator: " ")
        guard words.count > 1 else { return }
        if words[0] == "CONNECT" {
            guard let server = connect(port: words[1].split(separator: ":").last) else {
                return write(client, "HTTP/1.1 502 Nobody\r\nContent-Length: 0\r\n\r\n")
            }
            write(client, "HTTP/1.1 200 Go on\r\nX-Of-The-Proxy: yes\r\n\r\n")
            relay(client, server)
        } else {
            let authority = words[1].split(separator: "/", maxSplits: 2).dropFirst().first ?? ""
            guard let server = connect(port: authority.split(separator: ":").last) else { return }
            let path = words[1].dropFirst("http://\(authority)".count)
            let fields = text.split(separator: "\r\n").dropFirst().filter { !$0.hasPrefix("Proxy-") }
            write(server, "\(words[0]) \(path) HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n")
            relay(client, server)
        }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let number = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0...group.count { text.append(alphabet[number >> (18 - 6 * place) & 63]) }
            text += String(repeating: "=", count: 3 - group.count)
        }
        return text
    }

    // MARK: SOCKS

    private func serveSOCKS(_ client: CInt) {
        guard let version = read(client, 1)?.first else { return }
        version == 4 ? serveSOCKS4(client) : serveSOCKS5(client)
    }

    private func serveSOCKS4(_ client: CInt) {
        guard let request = read(client, 7), readText(client) != nil else { return }
        let isName = request[3] == 0 && request[6] != 0
        let host = isName ? readText(client) ?? "" : request[3..<7].map { "\($0)" }.joined(separator: ".")
        let port = UInt16(request[1]) << 8 | UInt16(request[2])
        note("\(host):\(port) resolved \(isName ? "there" : "here")")
        guard !isRefusing, let server = LoopbackSocket.connect(to: port) else {
            return write(client, [0, 0x5B, 0, 0, 0, 0, 0, 0])
        }
        write(client, [0, 0x5A, 0, 0, 0, 0, 0, 0])
        relay(client, server)
    }

    private func serveSOCKS5(_ client: CInt) {
        guard let count = read(client, 1)?.first, read(client, Int(count)) != nil else { return }
        write(client, [5, credentials == nil ? 0 : 2])
        if let credentials {
            guard read(client, 1) != nil, let user = readCounted(client), let password = readCounted(client) else {
                return
            }
            let isRight = "\(user):\(password)" == credentials
            write(client, [1, isRight ? 0 : 1])
            guard isRight else { return }
        }
        guard let request = read(client, 4) else { return }
        let isName = request[3] == 3
        let length = isName ? Int(read(client, 1)?.first ?? 0) : request[3] == 1 ? 4 : 16
        guard let address = read(client, length), let ends = read(client, 2) else { return }
        let host = isName ? String(decoding: address, as: UTF8.self) : address.map { "\($0)" }.joined(separator: ".")
        let port = UInt16(ends[0]) << 8 | UInt16(ends[1])
        note("\(host):\(port) resolved \(isName ? "there" : "here")")
        guard !isRefusing, let server = LoopbackSocket.connect(to: port) else {
            return write(client, [5, 2, 0, 1, 0, 0, 0, 0, 0, 0])
        }
        write(client, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        relay(client, server)
    }

    // MARK: Bytes

    private func connect(port: Substring?) -> CInt? {
        port.flatMap { UInt16($0) }.flatMap { LoopbackSocket.connect(to: $0) }
    }

    private func relay(_ client: CInt, _ server: CInt) {
        listener.holding(server) { exchange(client, server) }
    }

    private func exchange(_ client: CInt, _ server: CInt) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            var polls = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&polls, 2, -1) > 0 else { return }
            for (source, target) in [(0, server), (1, client)] where polls[source].revents != 0 {
                let count = recv(polls[source].fd, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                write(target, Array(buffer[..<count]))
            }
        }
    }

    private func read(_ descriptor: CInt, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return recv(descriptor, &bytes, count, CInt(MSG_WAITALL)) == count ? bytes : nil
    }

    private func readText(_ descriptor: CInt) -> String? {
        var text: [UInt8] = []
        while let byte = read(descriptor, 1)?.first {
            if byte == 0 { return String(decoding: text, as: UTF8.self) }
            text.append(byte)
        }
        return nil
    }

    private func readCounted(_ descriptor: CInt) -> String? {
        read(descriptor, 1).flatMap { read(descriptor, Int($0[0])) }.map { String(decoding: $0, as: UTF8.self) }
    }

    private func write(_ descriptor: CInt, _ text: String) { write(descriptor, Array(text.utf8)) }

    private func write(_ descriptor: CInt, _ bytes: [UInt8]) { LoopbackSocket.send(bytes, to: descriptor) }
}
