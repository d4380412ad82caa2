// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Memory for a whole body. Address space for the announced length is reserved first, so that nothing is copied when
/// more arrives. Memory is only used where bytes arrive, so a server that lies about the length gains nothing (except
/// where the system counts reserved address space as memory: `vm.overcommit_memory=2`, proc(5)).
struct WholeBodyBuffer {
    /// Above this size, the system is first asked whether it has room.
    static let large: Int64 = 16 << 20
    /// The most bytes to reserve room for before they have arrived.
    private static let trusted: Int64 = 256 << 20

    private var bytes: [UInt8] = []
    private let maximum: Int
    /// Bytes that have arrived, including those beyond the maximum.
    private(set) var received = 0

    /// - Parameters:
    ///   - maximum: The most bytes to keep.
    ///   - bytes: The bytes that have arrived already, with room for all that will.
    init(upTo maximum: Int, holding bytes: consuming [UInt8]) {
        (self.maximum, received) = (maximum, bytes.count)
        if received <= maximum { self.bytes = bytes }
    }

    /// - Parameters:
    ///   - maximum: The most bytes to keep.
    ///   - expected: How many bytes there will be, if that is known.
    init(upTo maximum: Int, expecting expected: Int64?) {
        self.maximum = maximum
        let room = Int(clamping: min(expected ?? 0, Self.trusted, Int64(maximum)))
        if Self.isToBeHad(room) { bytes.reserveCapacity(room) }
    }

    /// Whether the system has room for this many bytes. An array that reserves more than there is ends the process; one
    /// that has reserved nothing grows as bytes arrive.
    private static func isToBeHad(_ count: Int) -> Bool {
        guard count > large else { return true }
        let place = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard place != MAP_FAILED else { return false }
        munmap(place, count)
        return true
    }

    /// Whether more bytes have arrived than were to be kept.
    var isOverfull: Bool { received > maximum }

    /// The bytes that there is room for; for tests.
    var capacity: Int { bytes.capacity }

    mutating func append(_ new: UnsafeRawBufferPointer) {
        received += new.count
        guard !isOverfull else { return bytes = [] }
        bytes.append(contentsOf: new)
    }

    /// Returns the bytes. The buffer must not be used afterwards.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
