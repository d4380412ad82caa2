// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc
package import UplinkCore

/// A program that the kernel runs for every event before queueing it (socket(7), `SO_ATTACH_FILTER`). It drops routes
/// that lead to none of the relevant addresses, and neighbours that are no routers, at no cost to this process.
///
/// A route passes if its prefix contains one of the addresses, so default routes always do; the rule is that of
/// `RouteRecord.covers`. A neighbour passes if it is a known router that stops answering, or with any message if it is a
/// router that is silent or not known; the rule is that of `NextHops`, except for the interface. Everything else passes.
/// The kernel puts one message into each datagram of events, so it is enough to look at the first.
package struct RouteFilter: Equatable {
    /// The program, in classic BPF.
    let instructions: [BPFInstruction]

    /// Makes a filter for routes to these addresses, and for these routers, some of which are silent.
    package init(_ addresses: [IPAddress], routers: [IPAddress] = [], silent: [IPAddress] = []) {
        let neighbours = Self.byFamily(otherwise: .drop) { family, _ in
            Self.neighbours(routers.filter { $0.family == family }, silent: silent.filter { $0.family == family })
        }
        let routes = Self.byFamily(otherwise: .pass) { family, words in
            Self.routes(to: addresses.filter { $0.family == family }, words: words)
        }
        instructions =
            [
                .loadHalf(at: Offset.type),
                .ifEqual(Self.newRoute, skip: 4),
                .ifEqual(Self.deleteRoute, skip: 3),
                .ifEqual(Self.newNeighbour, skip: 3),
                .ifEqual(Self.deleteNeighbour, skip: 2),
                .pass,
                .skip(neighbours.count),
            ] + neighbours + routes
    }

    /// Attaches the filter to a socket in place of the previous one; returns whether the kernel accepted it.
    ///
    /// If it does not (its memory for filters is limited, `net.core.optmem_max`), the socket has no filter, because the
    /// previous one would drop what matters now.
    func attach(to descriptor: CInt) -> Bool {
        var instructions = instructions.map {
            sock_filter(code: $0.code, jt: $0.ifTrue, jf: $0.ifFalse, k: $0.operand)
        }
        return instructions.withUnsafeMutableBufferPointer { instructions in
            guard let length = UInt16(exactly: instructions.count) else {
                Self.detach(from: descriptor)
                return false
            }
            var program = sock_fprog(len: length, filter: instructions.baseAddress)
            let size = socklen_t(MemoryLayout<sock_fprog>.size)
            if setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size) == 0 { return true }
            Self.detach(from: descriptor)  // the previous one's memory may be what is missing
            return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size) == 0
        }
    }

    private static func detach(from descriptor: CInt) {
        var unused: CInt = 0
        setsockopt(descriptor, SOL_SOCKET, SO_DETACH_FILTER, &unused, socklen_t(MemoryLayout<CInt>.size))
    }

    /// The layout of a message: `struct nlmsghdr`, then `struct rtmsg` or `struct ndmsg`, which have the same length,
    /// then attributes.
    private enum Offset {
        static let type: UInt32 = 4
        static let family: UInt32 = 16
        static let prefixLength: UInt32 = 17
        static let neighbourState: UInt32 = 24
        static let neighbourFlags: UInt32 = 26
        static let attributes: UInt32 = 28
        /// From the start of an attribute.
        static let value: UInt32 = 4
    }

    /// The program's use of its scratch memory.
    private enum Memory {
        static let prefixLength: UInt32 = 0
        static let destination: UInt32 = 1  // up to four words
        static let mask: UInt32 = 5  // up to four words
    }

    // BPF loads numbers in network order; netlink writes them in the host's.
    private static let newRoute = UInt32(UInt16(RTM_NEWROUTE).bigEndian)
    private static let deleteRoute = UInt32(UInt16(RTM_DELROUTE).bigEndian)
    private static let newNeighbour = UInt32(UInt16(RTM_NEWNEIGH).bigEndian)
    private static let deleteNeighbour = UInt32(UInt16(RTM_DELNEIGH).bigEndian)
    private static let failed = UInt32(UInt16(NUD_FAILED).bigEndian)
    private static let router = UInt32(NTF_ROUTER)

    /// Continues with the program for the message's family, whose addresses have this many 32-bit words.
    private static func byFamily(
        otherwise: BPFInstruction, _ program: (IPAddress.Family, _ words: UInt32) -> [BPFInstruction]
    ) -> [BPFInstruction] {
        let (ipv4, ipv6) = (program(.ipv4, 1), program(.ipv6, 4))
        let choice: [BPFInstruction] = [
            .loadByte(at: Offset.family),
            .ifEqual(UInt32(AF_INET), skip: 2),
            .ifEqual(UInt32(AF_INET6), skip: 2),
            otherwise,
            .skip(1),
            .skip(ipv4.count),
        ]
        return choice + ipv4 + ipv6
    }

    /// Passes known routers of one family that stop answering, and every message about those that are silent or not
    /// known; drops other neighbours.
    private static func neighbours(_ routers: [IPAddress], silent: [IPAddress]) -> [BPFInstruction] {
        var program: [BPFInstruction] = [
            .load(Offset.attributes),
            .loadIndex(UInt32(NDA_DST)),
            .findAttribute,
            .unlessEqual(0, skip: 1),
            .drop,
            .moveToIndex,
        ]
        for router in silent { program += testing(neighbour: router, then: .pass) }
        let unknown: [BPFInstruction] = [
            .loadByte(at: Offset.neighbourFlags), .ifAnySet(router, skip: 1), .drop, .pass,
        ]
        let known: [BPFInstruction] = [.loadHalf(at: Offset.neighbourState), .ifEqual(failed, skip: 1), .drop, .pass]
        var tests: [BPFInstruction] = []
        for router in routers.reversed() {
            tests = testing(neighbour: router, then: .skip(tests.count + unknown.count)) + tests
        }
        return program + tests + unknown + known
    }

    /// Ends with `end` for a neighbour that has the address; otherwise continues after these instructions.
    private static func testing(neighbour address: IPAddress, then end: BPFInstruction) -> [BPFInstruction] {
        let words = address.words
        let tests = words.enumerated().flatMap { number, word -> [BPFInstruction] in
            [
                .loadWord(atIndexPlus: Offset.value + 4 * UInt32(number)),
                .unlessEqual(word, skip: UInt8(2 * (words.count - number - 1) + 1)),
            ]
        }
        return tests + [end]
    }

    /// Passes routes of one family that lead to an address, and drops the others. An address has `words` 32-bit words.
    private static func routes(to addresses: [IPAddress], words: UInt32) -> [BPFInstruction] {
        var program: [BPFInstruction] = [
            .loadByte(at: Offset.prefixLength),
            .unlessEqual(0, skip: 1),
            .pass,  // a default route
            .unlessGreater(32 * words, skip: 1),
            .pass,  // invalid messages are for the parser
            .store(Memory.prefixLength),
            .load(Offset.attributes),
            .loadIndex(RTA_DST.rawValue),
            .findAttribute,
            .unlessEqual(0, skip: 1),
            .pass,  // so is a prefix without a destination
            .moveToIndex,
        ]
        for word in 0..<words {
            program += [.loadWord(atIndexPlus: Offset.value + 4 * word), .store(Memory.destination + word)]
        }
        for word in 0..<words { program += mask(of: word) }
        return program + addresses.flatMap { passing($0) } + [.drop]
    }

    /// Computes which bits of a word the prefix fixes, and clears the other bits of the destination.
    private static func mask(of word: UInt32) -> [BPFInstruction] {
        let (start, end) = (32 * word, 32 * (word + 1))
        return [
            .load(memory: Memory.prefixLength),
            .ifAtLeast(end, skip: 10),
            .ifGreater(start, skip: 2),
            .load(0),  // none
            .skip(8),
            .load(end),  // some
            .loadIndex(memory: Memory.prefixLength),
            .subtractIndex,
            .moveToIndex,
            .load(.max),
            .shiftLeftByIndex,
            .skip(1),
            .load(.max),  // all
            .store(Memory.mask + word),
            .loadIndex(memory: Memory.destination + word),
            .andIndex,
            .store(Memory.destination + word),
        ]
    }

    /// Passes a route whose prefix contains the address; otherwise continues after these instructions.
    private static func passing(_ address: IPAddress) -> [BPFInstruction] {
        let words = address.words
        let tests = words.enumerated().flatMap { number, word -> [BPFInstruction] in
            [
                .load(word),
                .loadIndex(memory: Memory.mask + UInt32(number)),
                .andIndex,
                .loadIndex(memory: Memory.destination + UInt32(number)),
                .unlessEqualToIndex(skip: 5 * (words.count - number - 1) + 1),
            ]
        }
        return tests + [.pass]
    }
}

/// One instruction of classic BPF: `struct sock_filter`.
struct BPFInstruction: Equatable {
    let code: UInt16
    var ifTrue: UInt8 = 0
    var ifFalse: UInt8 = 0
    var operand: UInt32 = 0

    init(_ code: Int32, ifTrue: UInt8 = 0, ifFalse: UInt8 = 0, operand: UInt32 = 0) {
        self.code = UInt16(code)
        (self.ifTrue, self.ifFalse, self.operand) = (ifTrue, ifFalse, operand)
    }

    static let pass = Self(BPF_RET | BPF_K, operand: .max)
    static let drop = Self(BPF_RET | BPF_K, operand: 0)

    static func load(_ number: UInt32) -> Self { Self(BPF_LD | BPF_IMM, operand: number) }
    static func loadHalf(at offset: UInt32) -> Self { Self(BPF_LD | BPF_H | BPF_ABS, operand: offset) }
    static func loadByte(at offset: UInt32) -> Self { Self(BPF_LD | BPF_B | BPF_ABS, operand: offset) }
    static func loadWord(atIndexPlus offset: UInt32) -> Self { Self(BPF_LD | BPF_W | BPF_IND, operand: offset) }
    static func load(memory place: UInt32) -> Self { Self(BPF_LD | BPF_MEM, operand: place) }
    static func loadIndex(_ number: UInt32) -> Self { Self(BPF_LDX | BPF_IMM, operand: number) }
    static func loadIndex(memory place: UInt32) -> Self { Self(BPF_LDX | BPF_MEM, operand: place) }
    static func store(_ place: UInt32) -> Self { Self(BPF_ST, operand: place) }
    static let moveToIndex = Self(BPF_MISC | BPF_TAX)

    /// Searches from the offset in the accumulator for an attribute of the type in the index register; results in its
    /// offset, or 0.
    static let findAttribute = Self(
        BPF_LD | BPF_W | BPF_ABS, operand: UInt32(bitPattern: SKF_AD_OFF + SKF_AD_NLATTR))

    static let andIndex = Self(BPF_ALU | BPF_AND | BPF_X)
    static let subtractIndex = Self(BPF_ALU | BPF_SUB | BPF_X)
    static let shiftLeftByIndex = Self(BPF_ALU | BPF_LSH | BPF_X)

    /// Continues after the next `count` instructions; so do the instructions below, on their condition.
    static func skip(_ count: Int) -> Self { Self(BPF_JMP | BPF_JA, operand: UInt32(count)) }

    static func ifEqual(_ number: UInt32, skip: UInt8) -> Self {
        Self(BPF_JMP | BPF_JEQ | BPF_K, ifTrue: skip, operand: number)
    }

    static func ifAnySet(_ bits: UInt32, skip: UInt8) -> Self {
        Self(BPF_JMP | BPF_JSET | BPF_K, ifTrue: skip, operand: bits)
    }

    static func unlessEqual(_ number: UInt32, skip: UInt8) -> Self {
        Self(BPF_JMP | BPF_JEQ | BPF_K, ifFalse: skip, operand: number)
    }

    static func unlessEqualToIndex(skip: Int) -> Self { Self(BPF_JMP | BPF_JEQ | BPF_X, ifFalse: UInt8(skip)) }

    static func ifAtLeast(_ number: UInt32, skip: UInt8) -> Self {
        Self(BPF_JMP | BPF_JGE | BPF_K, ifTrue: skip, operand: number)
    }

    static func ifGreater(_ number: UInt32, skip: UInt8) -> Self {
        Self(BPF_JMP | BPF_JGT | BPF_K, ifTrue: skip, operand: number)
    }

    static func unlessGreater(_ number: UInt32, skip: UInt8) -> Self {
        Self(BPF_JMP | BPF_JGT | BPF_K, ifFalse: skip, operand: number)
    }
}

extension IPAddress {
    /// The address as 32-bit words, as BPF loads them.
    fileprivate var words: [UInt32] {
        stride(from: 0, to: bytes.count, by: 4).map { start in
            bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}
