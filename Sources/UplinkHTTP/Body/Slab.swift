// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// An ``HTTPBody/Chunk`` that is being filled, before it is shared. It has one owner at a time.
package struct Slab {
    private let chunk: HTTPBody.Chunk

    fileprivate init(_ chunk: HTTPBody.Chunk) { self.chunk = chunk }

    /// The number of bytes filled.
    package var count: Int { chunk.count }

    package var isFull: Bool { chunk.count == chunk.capacity }

    /// Copies as many bytes as fit and returns how many.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        chunk.fill(atMost: bytes.count) { room in
            if let source = bytes.baseAddress { room.baseAddress?.copyMemory(from: source, byteCount: room.count) }
            return room.count
        }
    }

    /// Calls `body` to write after the bytes that are filled, and to return how many it wrote.
    ///
    /// - Parameter limit: The most bytes that the slab may hold afterwards, if less than its capacity.
    @discardableResult
    func fill<Failure: Error>(
        upTo limit: Int = .max, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int { try chunk.fill(atMost: limit - count, body) }

    /// Calls `body` with the filled bytes; the pointer is valid until it returns.
    func withUnsafeBytes(_ body: (UnsafeRawBufferPointer) -> Void) { chunk.withUnsafeBytes(body) }

    /// Returns the bytes as a chunk that can be shared. The slab must not be used afterwards.
    ///
    /// Few bytes are copied, so that whoever keeps them, perhaps many such chunks, does not keep empty slabs.
    package func publish() -> HTTPBody.Chunk {
        guard chunk.count >= chunk.capacity / 4 else { return HTTPBody.Chunk(owning: chunk.bytes) }
        chunk.finish()
        return chunk
    }
}

/// A pool of memory for slabs. Small slabs, and slabs beyond the number to keep, are freed immediately.
package final class SlabPool: Sendable {
    /// The size of a slab that is kept.
    package static let slabSize = 128 * 1024
    private let free = Locked<[SendablePointer]>([])
    private let limit: Int

    private struct SendablePointer: @unchecked Sendable {  // memory with no other owner
        let memory: UnsafeMutableRawPointer
    }

    package init(keeping limit: Int = 32) { self.limit = limit }

    deinit { for slab in free.withLock({ $0 }) { slab.memory.deallocate() } }

    /// Returns a slab for `expected` bytes, or for as many as one slab should hold.
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
