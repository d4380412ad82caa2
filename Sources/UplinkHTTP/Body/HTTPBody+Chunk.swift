// SPDX-License-Identifier: Apache-2.0
import Glibc

extension HTTPBody {
    /// A piece of a body: some bytes that do not change, at one place in memory, shared and not copied.
    public final class Chunk: @unchecked Sendable {  // its memory is written before it is made and never after
        private let memory: UnsafeMutableRawPointer
        private let pool: SlabPool?
        private let capacity: Int
        /// How many bytes it holds.
        public let count: Int

        /// A chunk with a copy of some bytes.
        public init(_ bytes: some Collection<UInt8>) {
            count = bytes.count
            capacity = count
            memory = .allocate(byteCount: Swift.max(1, count), alignment: 16)
            pool = nil
            UnsafeMutableRawBufferPointer(start: memory, count: count).copyBytes(from: bytes)
        }

        /// A chunk that takes over a slab's memory, and gives it back to the pool in the end.
        init(adopting memory: UnsafeMutableRawPointer, count: Int, capacity: Int, pool: SlabPool) {
            self.memory = memory
            self.count = count
            self.capacity = capacity
            self.pool = pool
        }

        deinit {
            if let pool { pool.takeBack(memory, capacity: capacity) } else { memory.deallocate() }
        }

        /// Runs `body` with the bytes in place; the pointer is good until it returns.
        public func withUnsafeBytes<Result, Failure: Error>(
            _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try body(UnsafeRawBufferPointer(start: memory, count: count))
        }

        /// A copy of the bytes.
        public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
    }
}
