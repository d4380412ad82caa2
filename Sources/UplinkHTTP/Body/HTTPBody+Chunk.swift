// SPDX-License-Identifier: Apache-2.0

extension HTTPBody {
    /// A piece of a body: some bytes that do not change, at one place in memory, shared and not copied.
    public final class Chunk: @unchecked Sendable {  // written before a second one has it, and never after: see `Slab`
        private enum Storage {
            case array([UInt8])
            case slab(UnsafeMutableRawPointer, SlabPool)
        }

        private let storage: Storage
        /// How many bytes there is room for.
        let capacity: Int
        private var isWhole: Bool
        /// How many bytes it holds.
        public private(set) var count: Int

        /// A chunk of some bytes.
        public convenience init(_ bytes: some Collection<UInt8>) {
            self.init(owning: Array(bytes))
        }

        /// A chunk of these very bytes.
        init(owning bytes: [UInt8]) {
            storage = .array(bytes)
            (capacity, count, isWhole) = (bytes.count, bytes.count, true)
        }

        /// A chunk that is to be filled, and gives its memory to the pool in the end.
        init(filling memory: UnsafeMutableRawPointer, capacity: Int, pool: SlabPool) {
            storage = .slab(memory, pool)
            (self.capacity, count, isWhole) = (capacity, 0, false)
        }

        /// Has `body` write behind what is filled, into so many bytes at most, and say how much it wrote.
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

        /// From here on others may have it.
        func finish() {
            precondition(!isWhole, "a slab is published once")
            isWhole = true
        }

        deinit { if case .slab(let memory, let pool) = storage { pool.takeBack(memory, capacity: capacity) } }

        /// Runs `body` with the bytes in place; the pointer is good until it returns.
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
