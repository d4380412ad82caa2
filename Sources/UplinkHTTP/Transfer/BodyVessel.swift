// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Memory for a whole body. Room is taken for what is announced, so that nothing is copied when more comes; memory is taken
/// where bytes come, so that a server that lies gets none (but where the system counts room as memory:
/// `vm.overcommit_memory=2`, proc(5)).
struct BodyVessel {
    /// More than this is asked of the system first, whether it has it.
    static let large: Int64 = 16 << 20
    /// For no more than so many bytes that have not come.
    private static let trusted: Int64 = 256 << 20

    private var bytes: [UInt8] = []
    private let maximum: Int
    /// Bytes that have come, those that were too many included.
    private(set) var received = 0

    /// - Parameters:
    ///   - maximum: The most bytes to keep.
    ///   - bytes: What has come already, with room for all that will come.
    init(upTo maximum: Int, holding bytes: consuming [UInt8]) {
        (self.maximum, received) = (maximum, bytes.count)
        if received <= maximum { self.bytes = bytes }
    }

    /// - Parameters:
    ///   - maximum: The most bytes to keep.
    ///   - expected: How many there will be, where that is known.
    init(upTo maximum: Int, expecting expected: Int64?) {
        self.maximum = maximum
        let room = Int(clamping: min(expected ?? 0, Self.trusted, Int64(maximum)))
        if Self.isToBeHad(room) { bytes.reserveCapacity(room) }
    }

    /// Whether the system has room for so many bytes. An array that asks for more than there is ends the process; one that
    /// has not asked grows with what comes.
    private static func isToBeHad(_ count: Int) -> Bool {
        guard count > large else { return true }
        let place = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard place != MAP_FAILED else { return false }
        munmap(place, count)
        return true
    }

    /// Whether more has come than was to be kept.
    var isOverfull: Bool { received > maximum }

    /// Bytes that there is room for; for tests.
    var capacity: Int { bytes.capacity }

    mutating func append(_ new: UnsafeRawBufferPointer) {
        received += new.count
        guard !isOverfull else { return bytes = [] }
        bytes.append(contentsOf: new)
    }

    /// The bytes. The vessel is done with.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
