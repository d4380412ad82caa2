// SPDX-License-Identifier: Apache-2.0

/// What a picture's file says about itself: read without a library, so that limits apply before anything is decoded.
struct PictureInfo: Sendable, Hashable {
    /// The kinds of files that are recognised.
    enum Format: String, Sendable, Hashable {
        case png = "PNG"
        case jpeg = "JPEG"
        case gif = "GIF"
    }

    /// The most bytes of a file.
    static let maximumBytes = 16 << 20
    /// The most pixels of a picture.
    static let maximumPixels = 40_000_000
    /// The most pixels of one of its sides, as libpng has it by default.
    static let longestSide = 1_000_000

    static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    let format: Format
    let width: Int
    let height: Int
    let byteCount: Int

    /// Reads the file's header and checks that the file is whole.
    ///
    /// - Throws: ``PictureError`` when it is no picture, is cut short, or is larger than the limits allow.
    init(_ bytes: [UInt8]) throws(PictureError) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= Self.maximumBytes else { throw .tooManyBytes }
        let size: (width: Int, height: Int)
        if bytes.starts(with: Self.pngSignature) {
            (format, size) = (.png, try PNGStructure(bytes).size())
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            (format, size) = (.jpeg, try JPEGStructure(bytes).size())
        } else if bytes.starts(with: Array("GIF87a".utf8)) || bytes.starts(with: Array("GIF89a".utf8)) {
            (format, size) = (.gif, try Self.gifSize(bytes))
        } else if [Self.pngSignature, [0xFF, 0xD8, 0xFF], Array("GIF8".utf8)].contains(where: { $0.starts(with: bytes) }
        ) {
            throw .truncated
        } else {
            throw .notAPicture
        }
        guard size.width > 0, size.height > 0 else { throw .damaged("it has no pixels") }
        guard size.width <= Self.maximumPixels / size.height else {
            throw .tooManyPixels(width: size.width, height: size.height)
        }
        guard max(size.width, size.height) <= Self.longestSide else {
            throw .tooLong(width: size.width, height: size.height)
        }
        (width, height, byteCount) = (size.width, size.height, bytes.count)
    }

    private static func gifSize(_ bytes: [UInt8]) throws(PictureError) -> (width: Int, height: Int) {
        guard bytes.count >= 14, bytes.last == 0x3B else { throw .truncated }
        return (Int(bytes[6]) | Int(bytes[7]) << 8, Int(bytes[8]) | Int(bytes[9]) << 8)
    }
}

extension PictureInfo: CustomStringConvertible {
    /// A few words, such as `PNG picture, 192 × 128 pixels, 74 kB`.
    var description: String { "\(format.rawValue) picture, \(width) × \(height) pixels, \(ByteCount(byteCount))" }
}
