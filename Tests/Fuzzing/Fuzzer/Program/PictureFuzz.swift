// SPDX-License-Identifier: Apache-2.0

/// Bytes that claim to be a picture: whatever is accepted is within the limits and has the pixels that it announces,
/// and a picture that is written is read as the same.
///
/// The first byte: `f` a file, `c` a PNG file whose checksums are put right first, `w` width, height and pixels to
/// write.
enum PictureFuzz {
    /// What is decoded here, so that an input takes no long time.
    private static let decodedPixels = 1 << 18

    static func run(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        guard let (letter, rest) = kind(of: bytes) else { return }
        switch letter {
        case "f": try read(rest)
        case "c": try read(withChecksums(rest))
        case "w":
            guard rest.count > 2 else { return }
            try write(width: 1 + Int(rest[0] % 32), height: 1 + Int(rest[1] % 32), Array(rest[2...]))
        default: return
        }
    }

    private static func read(_ file: [UInt8]) throws(Fault) {
        let info: PictureInfo
        do throws(PictureError) { info = try PictureInfo(file) } catch {
            try expect(!error.description.isEmpty, "an error without words")
            return
        }
        try expect(info.width > 0 && info.height > 0 && info.byteCount == file.count, "\(info)")
        try expect(info.width.multipliedReportingOverflow(by: info.height).overflow == false, "\(info)")
        try expect(info.width * info.height <= PictureInfo.maximumPixels, "\(info) is beyond the limit")
        guard info.width * info.height <= decodedPixels else { return }
        let picture: Picture
        do throws(PictureError) { picture = try Picture(file: file) } catch {
            guard case .damaged(let words) = error else { throw Fault(description: "\(info), then: \(error)") }
            return try expect(!words.isEmpty, "damaged without words")
        }
        try expect(picture.info == info, "\(info) becomes \(picture.info)")
        if let pixels = picture.pixels {
            try expect(pixels.count == 4 * info.width * info.height, "\(info) has \(pixels.count) bytes of pixels")
        }
    }

    private static func write(width: Int, height: Int, _ bytes: [UInt8]) throws(Fault) {
        let colours = (0..<width * height * 3).map { bytes[$0 % bytes.count] }
        let file = PNGWriter.file(width: width, height: height, pixels: colours)
        let picture = try? Picture(file: file)
        try expect(picture.map { ($0.info.width, $0.info.height) == (width, height) } ?? false, "not what was written")
        if let pixels = picture?.pixels {
            let opaque = (0..<width * height).flatMap { colours[$0 * 3..<$0 * 3 + 3] + [0xFF] }
            try expect(pixels == opaque, "other pixels than were written")
        }
        let cut = Int(bytes[0]) * (file.count - 1) / 255
        let isRefused = (try? PictureInfo(Array(file[..<cut]))) == nil
        try expect(isRefused, "\(cut) of \(file.count) bytes pass for the whole")
    }

    /// A PNG file with the right checksum behind each chunk, which no input would have by chance.
    private static func withChecksums(_ file: [UInt8]) -> [UInt8] {
        var (file, offset) = (file, 8)
        while offset + 12 <= file.count {
            let length = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= file.count - offset - 12 else { break }
            let end = offset + 8 + length
            let sum = Checksum.crc32(file[offset + 4..<end])
            for (place, shift) in [24, 16, 8, 0].enumerated() { file[end + place] = UInt8(sum >> shift & 0xFF) }
            offset = end + 4
        }
        return file
    }
}
