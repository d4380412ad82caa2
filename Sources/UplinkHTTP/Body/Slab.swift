// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// A piece of memory that is being filled, before it becomes a ``HTTPBody/Chunk``. One owner at a time.
package final class Slab {
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int
    private let pool: SlabPool
    private var isPublished = false
    /// Bytes that are filled.
    package private(set) var count = 0

    fileprivate init(memory: UnsafeMutableRawPointer, capacity: Int, pool: SlabPool) {
        self.memory = memory
        self.capacity = capacity
        self.pool = pool
    }

    deinit { if !isPublished { pool.takeBack(memory, capacity: capacity) } }

    package var isFull: Bool { count == capacity }

    /// Copies as much as fits and says how much that was.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, capacity - count)
        guard taken > 0, let source = bytes.baseAddress else { return 0 }
        memory.advanced(by: count).copyMemory(from: source, byteCount: taken)
        count += taken
        return taken
    }

    /// Has `body` write behind what is filled, and say how much it wrote.
    ///
    /// - Parameter limit: How many bytes the slab may hold then, where it is not to be filled.
    @discardableResult
    func fill<Failure: Error>(
        upTo limit: Int = .max, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        let room = max(0, min(limit, capacity) - count)
        let taken = try body(UnsafeMutableRawBufferPointer(start: memory.advanced(by: count), count: room))
        precondition(taken >= 0 && taken <= room, "a slab was filled beyond its end")
        count += taken
        return taken
    }

    /// The bytes as a chunk that anybody may keep. The slab is done with.
    package func publish() -> HTTPBody.Chunk {
        precondition(!isPublished, "a slab is published once")
        isPublished = true
        return HTTPBody.Chunk(adopting: memory, count: count, capacity: capacity, pool: pool)
    }
}

/// Memory for slabs, used again and again. Of small slabs and of more than it is to keep it lets go at once.
package final class SlabPool: Sendable {
    /// The size of a slab that is kept.
    package static let slabSize = 128 * 1024
    private let free = Locked<[SendablePointer]>([])
    private let limit: Int

    private struct SendablePointer: @unchecked Sendable {  // memory that nobody else has
        let memory: UnsafeMutableRawPointer
    }

    package init(keeping limit: Int = 32) { self.limit = limit }

    deinit { for slab in free.withLock({ $0 }) { slab.memory.deallocate() } }

    /// A slab for `expected` bytes, or for as many as it pays to hold in one.
    package func slab(expecting expected: Int64?) -> Slab {
        let size = max(1024, Int(min(expected ?? Int64(Self.slabSize), Int64(Self.slabSize))))
        let memory = size == Self.slabSize ? free.withLock { $0.popLast() }?.memory : nil
        return Slab(
            memory: memory ?? .allocate(byteCount: size, alignment: 16), capacity: size, pool: self)
    }

    fileprivate func give(_ memory: UnsafeMutableRawPointer) -> Bool {
        let slab = SendablePointer(memory: memory)
        return free.withLock { free in
            guard free.count < limit else { return false }
            free.append(slab)
            return true
        }
    }

    func takeBack(_ memory: UnsafeMutableRawPointer, capacity: Int) {
        if capacity != Self.slabSize || !give(memory) { memory.deallocate() }
    }
}
