// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import Uplink

/// An HTTP server in another network namespace, on an address of each family, that gives each its own answer.
final class AnsweringServer: Sendable {
    /// What a family is answered.
    enum Answer: Sendable, CustomTestStringConvertible {
        /// These bytes, and the connection's end.
        case bytes(String)
        /// Nothing, ever.
        case nothing

        var testDescription: String {
            switch self {
            case .bytes(let text): String(text.prefix { $0 != "\r\n" })
            case .nothing: "nothing"
            }
        }
    }

    private struct State {
        var answers: [IPAddress.Family: Answer]
        var asked: [IPAddress.Family: Int] = [:]
        var held: [CInt] = []
    }

    private let listeners: [CInt]
    private let state: Locked<State>

    /// Listens on the thread of a loop, whose network namespace is the server's.
    init(on loop: EventLoop, addresses: [IPAddress], port: UInt16, answers: [IPAddress.Family: Answer]) async throws {
        state = Locked(State(answers: answers))
        let listening = Locked<[CInt]>([])
        await withCheckedContinuation { continuation in
            loop.execute {
                for address in addresses {
                    let descriptor = Self.listen(on: address, port)
                    listening.withLock { $0.append(descriptor) }
                }
                continuation.resume()
            }
        }
        listeners = listening.withLock { $0 }
        guard listeners.allSatisfy({ $0 >= 0 }) else { throw Missing("port to listen on") }
        for (address, listener) in zip(addresses, listeners) {
            let family = address.family
            detachThread { [state] in
                while true {
                    let descriptor = accept(listener, nil, nil)
                    guard descriptor >= 0 else { return }
                    Self.serve(descriptor, state, family)
                }
            }
        }
    }

    /// How often a family was asked.
    func asked(_ family: IPAddress.Family) -> Int { state.withLock { $0.asked[family] ?? 0 } }

    /// Changes what a family is answered.
    func answer(_ family: IPAddress.Family, _ answer: Answer) { state.withLock { $0.answers[family] = answer } }

    /// Ends the server.
    func stop() {
        for listener in listeners {
            shutdown(listener, CInt(SHUT_RDWR))  // its thread's accept(2) fails
            close(listener)
        }
        for descriptor in state.withLock({ $0.held }) { close(descriptor) }
    }

    private static func listen(on address: IPAddress, _ port: UInt16) -> CInt {
        let kind = CInt(bitPattern: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family == .ipv4 ? AF_INET : AF_INET6, kind, 0)
        var name = SocketAddress(address, port: port)
        guard name.withSockaddr({ bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 16) == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    private static func serve(_ descriptor: CInt, _ state: Locked<State>, _ family: IPAddress.Family) {
        var (head, byte): ([UInt8], UInt8) = ([], 0)
        while head.suffix(4) != [13, 10, 13, 10], recv(descriptor, &byte, 1, 0) == 1 { head.append(byte) }
        let answer = state.withLock { state in
            state.asked[family, default: 0] += 1
            return state.answers[family] ?? .nothing
        }
        switch answer {
        case .bytes(let text):
            var bytes = Array(text.utf8)
            _ = send(descriptor, &bytes, bytes.count, CInt(MSG_NOSIGNAL))
            close(descriptor)
        case .nothing: state.withLock { $0.held.append(descriptor) }
        }
    }
}
