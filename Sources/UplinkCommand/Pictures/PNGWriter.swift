// SPDX-License-Identifier: Apache-2.0

/// Writes a PNG file without a library: 8 bits for each of red, green and blue, not compressed.
enum PNGWriter {
    /// The file's bytes.
    ///
    /// - Parameter pixels: Three bytes a pixel, row by row, `width * height` of them.
    static func file(width: Int, height: Int, pixels: [UInt8]) -> [UInt8] {
        var rows: [UInt8] = []
        for row in 0..<height {
            rows.append(0)  // no filter
            rows += pixels[row * width * 3..<(row + 1) * width * 3]
        }
        let size = bigEndian(UInt32(width)) + bigEndian(UInt32(height))
        let header: [UInt8] = size + [8, 2, 0, 0, 0]
        return PictureInfo.pngSignature + chunk("IHDR", header) + chunk("IDAT", zlib(rows)) + chunk("IEND", [])
    }

    private static func chunk(_ kind: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(kind.utf8) + content
        return bigEndian(UInt32(content.count)) + body + bigEndian(Checksum.crc32(body))
    }

    /// A zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4).
    private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bytes.count, by: 65535) {
            let block = bytes[start..<min(start + 65535, bytes.count)]
            let length = UInt16(block.count)
            stream.append(block.endIndex == bytes.count ? 1 : 0)
            for number in [length, ~length] { stream += [UInt8(number & 0xFF), UInt8(number >> 8)] }
            stream += block
        }
        return stream + bigEndian(Checksum.adler32(bytes))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
