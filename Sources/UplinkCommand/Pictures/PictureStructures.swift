// SPDX-License-Identifier: Apache-2.0

/// A PNG file's chunks (PNG specification, section 5).
struct PNGStructure {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The picture's size, after a walk over all chunks to `IEND`.
    func size() throws(PictureError) -> (width: Int, height: Int) {
        var offset = 8
        var size: (width: Int, height: Int)?
        while true {
            guard offset + 12 <= bytes.count else { throw .truncated }
            let length = bytes.bigEndian(at: offset, bytes: 4)
            guard length <= bytes.count - offset - 12 else { throw .truncated }
            let end = offset + 8 + length
            guard Int(Checksum.crc32(bytes[offset + 4..<end])) == bytes.bigEndian(at: end, bytes: 4) else {
                throw .damaged("a checksum is wrong")
            }
            let kind = Array(bytes[offset + 4..<offset + 8])
            switch (kind, size) {
            case (Array("IHDR".utf8), nil) where length == 13:
                size = (bytes.bigEndian(at: offset + 8, bytes: 4), bytes.bigEndian(at: offset + 12, bytes: 4))
            case (Array("IEND".utf8), .some(let size)): return size
            case (_, nil): throw .damaged("it does not begin with its size")
            case (_, .some): break
            }
            offset = end + 4
        }
    }
}

/// A JPEG file's segments (ITU T.81, annex B).
struct JPEGStructure {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The picture's size from its frame header; the file must end with the end-of-image marker.
    func size() throws(PictureError) -> (width: Int, height: Int) {
        var offset = 2
        while true {
            guard offset + 4 <= bytes.count else { throw .truncated }
            guard bytes[offset] == 0xFF else { throw .damaged("a marker is missing") }
            let marker = bytes[offset + 1]
            let length = bytes.bigEndian(at: offset + 2, bytes: 2)
            switch marker {
            case 0xFF: offset += 1  // padding
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard offset + 9 <= bytes.count, bytes.lastMarkerIsEnd else { throw .truncated }
                return (bytes.bigEndian(at: offset + 7, bytes: 2), bytes.bigEndian(at: offset + 5, bytes: 2))
            case 0xD8, 0xD9, 0xDA: throw .damaged("it does not tell its size")
            default:
                guard length >= 2 else { throw .damaged("a segment has no length") }
                offset += 2 + length
            }
        }
    }
}

extension [UInt8] {
    /// The number that the bytes at an offset make up; they must be there.
    fileprivate func bigEndian(at offset: Int, bytes count: Int) -> Int {
        self[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Whether the end-of-image marker is near the end; some cameras add a few bytes after it.
    fileprivate var lastMarkerIsEnd: Bool {
        let tail = Array(suffix(1024))
        return zip(tail, tail.dropFirst()).contains { $0 == 0xFF && $1 == 0xD9 }
    }
}
