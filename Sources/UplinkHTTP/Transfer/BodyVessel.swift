// SPDX-License-Identifier: Apache-2.0

/// Memory for a whole body, which grows with what comes and not with what is announced. One owner at a time: whoever holds
/// its mailbox's lock.
final class BodyVessel {
    /// How many announced bytes are worth memory before they have come.
    private static let trusted: Int64 = 16 << 20

    private var bytes: [UInt8] = []
    private let maximum: Int
    private let expected: Int64?
    /// Bytes that have come, those that were too many included.
    private(set) var received = 0

    /// - Parameters:
    ///   - maximum: The most bytes to keep.
    ///   - expected: How many there will be, where that is known.
    init(upTo maximum: Int, expecting expected: Int64?) {
        self.maximum = maximum
        self.expected = expected
        if let expected { bytes.reserveCapacity(Int(clamping: min(expected, Self.trusted, Int64(maximum)))) }
    }

    /// Whether more has come than was to be kept.
    var isOverfull: Bool { received > maximum }

    /// Bytes that there is room for; for tests.
    var capacity: Int { bytes.capacity }

    func append(_ new: UnsafeRawBufferPointer) {
        received += new.count
        guard !isOverfull else { return bytes = [] }
        if received > bytes.capacity, let expected {
            // What has come is a reason to believe in eight times as much.
            let believed = max(Int64(received), min(expected, 8 * Int64(bytes.count), Int64(maximum)))
            bytes.reserveCapacity(Int(clamping: believed))
        }
        bytes.append(contentsOf: new)
    }

    /// The bytes. The vessel is done with.
    func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
