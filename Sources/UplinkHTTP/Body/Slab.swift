// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// A ``HTTPBody/Chunk`` that is being filled, before anybody else has it. One owner at a time.
package struct Slab {
    private let chunk: HTTPBody.Chunk

    fileprivate init(_ chunk: HTTPBody.Chunk) { self.chunk = chunk }

    /// Bytes that are filled.
    package var count: Int { chunk.count }

    package var isFull: Bool { chunk.count == chunk.capacity }

    /// Copies as much as fits and says how much that was.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        chunk.fill(atMost: bytes.count) { room in
            if let source = bytes.baseAddress { room.baseAddress?.copyMemory(from: source, byteCount: room.count) }
            return room.count
        }
    }

    /// Has `body` write behind what is filled, and say how much it wrote.
    ///
    /// - Parameter limit: How many bytes the slab may hold then, where it is not to be filled.
    @discardableResult
    func fill<Failure: Error>(
        upTo limit: Int = .max, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int { try chunk.fill(atMost: limit - count, body) }

    /// Runs `body` with what is filled; the pointer is good until it returns.
    func withUnsafeBytes(_ body: (UnsafeRawBufferPointer) -> Void) { chunk.withUnsafeBytes(body) }

    /// The bytes as a chunk that anybody may keep. The slab is done with.
    package func publish() -> HTTPBody.Chunk {
        chunk.finish()
        return chunk
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
            HTTPBody.Chunk(
                filling: memory ?? .allocate(byteCount: size, alignment: 16), capacity: size, pool: self))
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
