// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkMonitor

/// Bytes that claim to be all that a kernel said, answers and events: the monitor's whole side towards the kernel ends,
/// with a path that keeps its own rules or with an error.
///
/// An input is a row of datagrams, each behind three bytes: what became of it, and its length. The highest bit says
/// that it is an answer, the next that the answer has the question's number, the lowest three what the reading brings.
enum ConversationFuzz {
    /// More evaluations than this are not made of one input.
    private static let turns = 8

    /// Takes one input.
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        let (events, answers) = Recording.sides(of: bytes)
        do throws(NetlinkError) {
            let network = try KernelNetwork(.init(), events: events, query: answers)
            for _ in 0..<turns {
                try check(try network.completed(try network.path()))
                guard try network.readEvents() || !events.hasEnded else { break }
            }
        } catch  where error.call == Self.fault {
            throw Fault(description: "a satisfied path without what it needs")
        } catch {
            return  // the kernel said nonsense where an answer is needed
        }
    }

    private static let fault = "a rule of the path"

    private static func check(_ path: NetworkPath) throws(NetlinkError) {
        let isSound =
            path.isSatisfied == (path.ipv4.isAvailable || path.ipv6.isAvailable)
            && path.isSatisfied == (path.unsatisfiedReason == nil)
            && [path.ipv4, path.ipv6].allSatisfy { $0.isAvailable == ($0.unsatisfiedReason == nil) }
            && !path.json.utf8.contains { $0 < 0x20 }
        if !isSound { throw NetlinkError(call: fault, errno: 0) }
    }
}

/// One of the two sockets, as a recording.
private final class Recording: NetlinkTransport {
    private struct Datagram {
        var received: NetlinkReceived
        var isNumbered: Bool
        var bytes: [UInt8]
    }

    private var datagrams: ArraySlice<Datagram> = []
    private var current: [UInt8] = []
    /// The question that was asked last; nil on the side of the events.
    private var question: [UInt8]?

    /// The events and the answers.
    static func sides(of bytes: UnsafeRawBufferPointer) -> (events: Recording, answers: Recording) {
        let (events, answers) = (Recording(), Recording())
        var rest = Array(bytes)[...]
        while let what = rest.popFirst(), let low = rest.popFirst(), let high = rest.popFirst() {
            let length = min(Int(low) | Int(high) << 8, rest.count)
            let received: NetlinkReceived =
                switch what & 7 {
                case 4: .truncated
                case 5: .foreign
                case 6: .empty
                case 7: .overrun
                default: .datagram
                }
            let side = what & 0x80 == 0 ? events : answers
            side.datagrams.append(
                Datagram(received: received, isNumbered: what & 0x40 != 0, bytes: Array(rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        return (events, answers)
    }

    var hasEnded: Bool { datagrams.isEmpty }

    func send(_ message: [UInt8]) { question = message }

    func receive() -> NetlinkReceived {
        guard let next = datagrams.popFirst() else {
            current = question.map(Self.refusal) ?? []
            return question == nil ? .empty : .datagram
        }
        current = next.bytes
        if next.isNumbered, let question { Self.number(&current, as: question) }
        return next.received
    }

    func withDatagram<Result>(_ body: (RawSpan) -> Result) -> Result { current.withUnsafeBytes { body($0.bytes) } }

    /// What a kernel without a network answers: no route, or the end of an empty list.
    private static func refusal(of question: [UInt8]) -> [UInt8] {
        let isDump = question.count > 7 && question[7] & 0x3 != 0  // NLM_F_ROOT, NLM_F_MATCH
        var answer: [UInt8] = [20, 0, 0, 0, isDump ? 3 : 2, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
        answer += withUnsafeBytes(of: isDump ? 0 : -ENETUNREACH) { Array($0) }
        number(&answer, as: question)
        return answer
    }

    /// Gives all messages of a datagram the question's sequence number.
    private static func number(_ datagram: inout [UInt8], as question: [UInt8]) {
        var offset = 0
        while offset + 16 <= datagram.count, question.count >= 12 {
            let length = (0..<4).reduce(0) { $0 | Int(datagram[offset + $1]) << (8 * $1) }
            datagram.replaceSubrange(offset + 8..<offset + 12, with: question[8..<12])
            guard length >= 16, length <= datagram.count - offset else { return }
            offset += (length + 3) & ~3
        }
    }
}
