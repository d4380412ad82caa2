// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a body was, without keeping a large one: its length, its beginning and a checksum.
package struct BodyRecord: Sendable, Equatable, CustomStringConvertible {
    /// How many bytes there were.
    package private(set) var count: Int64 = 0
    /// The first ones.
    package private(set) var beginning: [UInt8] = []
    private var sum: UInt64 = 0
    private var block: [UInt8] = []

    private static let kept = 64 * 1024

    package init() {}

    package init(of bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
        finish()
    }

    package var description: String { "\(count) bytes, \(sum), beginning with \(text.prefix(200))" }

    /// The beginning as a text.
    package var text: String { String(decoding: beginning, as: UTF8.self) }

    /// Cheap without optimisation too, and independent of how the bytes were cut.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        count += Int64(bytes.count)
        beginning.append(contentsOf: bytes.prefix(max(0, Self.kept - beginning.count)))
        var rest = bytes
        while !rest.isEmpty {
            let taken = min(rest.count, Self.kept - block.count)
            block.append(contentsOf: UnsafeRawBufferPointer(rebasing: rest[..<taken]))
            rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
            if block.count == Self.kept { digest() }
        }
    }

    /// Call it once, after the last bytes.
    package mutating func finish() { digest() }

    private mutating func digest() {
        block.withUnsafeBytes { bytes in
            var place = 0
            while place + 8 <= bytes.count {
                sum = sum &* 31 &+ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                place += 8
            }
            while place < bytes.count {
                sum = sum &* 31 &+ UInt64(bytes[place])
                place += 1
            }
        }
        block.removeAll(keepingCapacity: true)
    }
}

/// Reads the bodies of requests from a socket, for ``RawServer``.
struct BodyReader {
    let descriptor: CInt
    /// How long to wait after every 64 KiB.
    var pause: Duration?
    /// Told of every piece.
    let note: (UnsafeRawBufferPointer) -> Void

    /// Reads a body that is framed as `head` says; whether it came whole.
    func read(after head: String) -> Bool {
        let fields = head.lowercased()
        if fields.contains("\r\ntransfer-encoding: chunked\r\n") { return readChunks() }
        guard let field = fields.components(after: "\r\ncontent-length: ") else { return true }
        return read(Int(field) ?? 0)
    }

    /// Reads so many bytes; whether they came.
    func read(_ count: Int) -> Bool {
        var left = count
        var block = [UInt8](repeating: 0, count: 64 * 1024)
        while left > 0 {
            let wanted = min(left, block.count)
            let got = block.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, wanted, 0) }
            guard got > 0 else { return false }
            block.withUnsafeBytes { note(UnsafeRawBufferPointer(rebasing: $0[..<got])) }
            left -= got
            if let pause { usleep(UInt32(pause / .microseconds(1))) }
        }
        return true
    }

    private func readChunks() -> Bool {
        while let line = readLine() {
            guard let size = Int(line, radix: 16), read(size), let end = readLine(), end.isEmpty else { return false }
            if size == 0 { return true }
        }
        return false
    }

    private func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1 {
            line.append(byte)
            if line.suffix(2) == [13, 10] { return String(decoding: line.dropLast(2), as: UTF8.self) }
        }
        return nil
    }
}

extension String {
    /// What follows a text, up to the end of the line.
    fileprivate func components(after text: String) -> Substring? {
        guard let place = firstRange(of: text) else { return nil }
        return self[place.upperBound...].prefix { $0 != "\r" && $0 != "\r\n" }
    }
}
