// SPDX-License-Identifier: Apache-2.0

extension HTTPBody {
    /// A piece of a body: immutable contiguous bytes, which are shared and not copied.
    public final class Chunk: @unchecked Sendable {  // written only before it is shared: see `Slab`
        private enum Storage {
            case array([UInt8])
            case slab(UnsafeMutableRawPointer, SlabPool)
        }

        private let storage: Storage
        /// The number of bytes it has room for.
        let capacity: Int
        @exclusivity(unchecked) private var isWhole: Bool  // what changes these calls no other code
        /// The number of bytes.
        @exclusivity(unchecked) public private(set) var count: Int

        /// Makes a chunk with a copy of some bytes.
        public convenience init(_ bytes: some Collection<UInt8>) {
            self.init(owning: Array(bytes))
        }

        /// Makes a chunk that takes over these bytes.
        init(owning bytes: [UInt8]) {
            storage = .array(bytes)
            (capacity, count, isWhole) = (bytes.count, bytes.count, true)
        }

        /// Makes an empty chunk to be filled, which returns its memory to the pool in the end.
        init(filling memory: UnsafeMutableRawPointer, capacity: Int, pool: SlabPool) {
            storage = .slab(memory, pool)
            (self.capacity, count, isWhole) = (capacity, 0, false)
        }

        /// Calls `body` to write after the bytes that are filled, into at most `room` bytes, and returns how many it
        /// wrote.
        func fill<Failure: Error>(
            atMost room: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
        ) throws(Failure) -> Int {
            guard case .slab(let memory, _) = storage, !isWhole else {
                preconditionFailure("a chunk that others may have is not changed")
            }
            let room = Swift.max(0, Swift.min(room, capacity - count))
            let taken = try body(UnsafeMutableRawBufferPointer(start: memory.advanced(by: count), count: room))
            precondition(taken >= 0 && taken <= room, "a slab was filled beyond its end")
            count += taken
            return taken
        }

        /// From here on the chunk may be shared.
        func finish() {
            precondition(!isWhole, "a slab is published once")
            isWhole = true
        }

        deinit { if case .slab(let memory, let pool) = storage { pool.takeBack(memory, capacity: capacity) } }

        /// Calls `body` with the bytes in place; the pointer is valid until it returns.
        public func withUnsafeBytes<Result, Failure: Error>(
            _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            switch storage {
            case .array(let bytes):
                try bytes.withUnsafeBufferPointer { bytes throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
            case .slab(let memory, _): try body(UnsafeRawBufferPointer(start: memory, count: count))
            }
        }

        /// The bytes as an array.
        public var bytes: [UInt8] {
            switch storage {
            case .array(let bytes): bytes
            case .slab: withUnsafeBytes { Array($0) }
            }
        }
    }
}
