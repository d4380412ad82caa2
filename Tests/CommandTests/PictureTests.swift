// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// Files that are pictures, or pretend to be.
enum Files {
    /// A PNG chunk with its checksum.
    static func chunk(_ kind: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(kind.utf8) + content
        return number(UInt32(content.count)) + body + number(Checksum.crc32(body))
    }

    static func number(_ number: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    /// A PNG file that claims a size, with the compressed data given.
    static func png(width: UInt32, height: UInt32, data: [UInt8] = []) -> [UInt8] {
        PictureInfo.pngSignature + chunk("IHDR", number(width) + number(height) + [8, 2, 0, 0, 0]) + chunk("IDAT", data)
            + chunk("IEND", [])
    }

    /// The least that a JPEG file says: a comment, a frame header, the end.
    static let jpeg: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 1, 2, 0xFF, 0xC0, 0, 11, 8, 0, 100, 0, 200, 1, 1, 0x11, 0] + [0xFF, 0xD9]

    static let gif: [UInt8] = Array("GIF89a".utf8) + [44, 1, 200, 0, 0, 0, 0, 0x3B]
}

@Suite(.timeLimit(.minutes(2)))
struct PictureTests {
    @Test func headersTellFormatAndSize() throws {
        let demo = try PictureInfo(DemoPicture.file)
        #expect((demo.format, demo.width, demo.height) == (.png, DemoPicture.width, DemoPicture.height))
        #expect(demo.description == "PNG picture, 192 × 120 pixels, 69 kB")
        let jpeg = try PictureInfo(Files.jpeg)
        #expect((jpeg.format, jpeg.width, jpeg.height) == (.jpeg, 200, 100))
        let gif = try PictureInfo(Files.gif)
        #expect((gif.format, gif.width, gif.height) == (.gif, 300, 200))
    }

    @Test func theDemosPictureIsSmall() { #expect(DemoPicture.file.count < 100_000) }

    @Test func whatIsNoPictureIsSaid() {
        #expect(throws: PictureError.empty) { try PictureInfo([]) }
        #expect(throws: PictureError.notAPicture) { try PictureInfo(Array("<html>".utf8)) }
        #expect(throws: PictureError.notAPicture) { try PictureInfo(Array(repeating: 0, count: 1000)) }
        #expect(throws: PictureError.damaged("it has no pixels")) { try PictureInfo(Files.png(width: 0, height: 5)) }
    }

    @Test func limitsHoldBeforeAnythingIsDecoded() {
        #expect(throws: PictureError.tooManyPixels(width: 100_000, height: 100_000)) {
            try Picture(file: Files.png(width: 100_000, height: 100_000))
        }
        #expect(throws: PictureError.tooManyPixels(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF)) {
            try Picture(file: Files.png(width: .max, height: .max))
        }
        #expect(throws: PictureError.tooLong(width: 1_000_001, height: 2)) {
            try Picture(file: Files.png(width: 1_000_001, height: 2))
        }
        #expect(throws: PictureError.tooManyBytes) {
            try Picture(file: PictureInfo.pngSignature + [UInt8](repeating: 0, count: PictureInfo.maximumBytes))
        }
    }

    @Test func everyCutOfAPictureIsTruncated() {
        let file = PNGWriter.file(width: 3, height: 2, pixels: Array(repeating: 7, count: 18))
        for length in 1..<file.count {
            #expect(throws: PictureError.truncated) { try Picture(file: Array(file.prefix(length))) }
        }
        for (whole, least) in [(Files.jpeg, 4), (Files.gif, 7)] {
            for length in least..<whole.count {
                #expect(throws: PictureError.truncated) { try Picture(file: Array(whole.prefix(length))) }
            }
        }
    }

    @Test func damagedBytesNeverCrash() {
        var random = SystemRandomNumberGenerator()
        let files = [
            PNGWriter.file(width: 9, height: 9, pixels: Array(repeating: 99, count: 243)), Files.jpeg, Files.gif,
        ]
        var refused = 0
        for round in 0..<3000 {
            var file = files[round % files.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                file[Int.random(in: 0..<file.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            do { _ = try Picture(file: file) } catch { refused += 1 }
        }
        #expect(refused > 1000)  // every change in a PNG file spoils a checksum, at least
    }

    @Test func checksumsAreThoseOfTheStandards() {
        #expect(Checksum.crc32(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(Checksum.adler32(Array("Wikipedia".utf8)) == 0x11E6_0398)
    }

    @Test(arguments: [
        (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (69_313, "69 kB"), (1_500_000, "1.5 MB"),
        (999_999, "1.0 MB"), (Int.max, "9.2 EB"),
    ])
    func byteCountsAreReadable(bytes: Int, text: String) { #expect("\(ByteCount(bytes))" == text) }

    #if Pictures
    @Test func pixelsComeBackFromTheFile() throws {
        let pixels: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3]
        let picture = try Picture(file: PNGWriter.file(width: 2, height: 2, pixels: pixels))
        #expect(picture.pixels == [255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 1, 2, 3, 255])
    }

    @Test func dataThatCannotBeDecodedIsDamage() {
        for data in [[], [1, 2, 3], Array(repeating: UInt8(0), count: 100)] as [[UInt8]] {
            let error = #expect(throws: PictureError.self) {
                try Picture(file: Files.png(width: 50, height: 50, data: data))
            }
            guard case .damaged = error else {
                Issue.record("\(String(describing: error)) is not damage")
                continue
            }
        }
    }

    @Test func drawingsFitAndCarryNoColourUnlessWanted() throws {
        let picture = try Picture(file: DemoPicture.file)
        let size = TerminalSize(columns: 40, rows: 10)
        let plain = try #require(PictureDrawing.draw(picture, in: size, withColors: false))
        #expect(plain.rows <= 10)
        #expect(!plain.sequence.contains("38;"))
        #expect(PictureDrawing.draw(picture, in: TerminalSize(columns: 40, rows: 0), withColors: true) == nil)
        #expect(PictureDrawing.draw(picture, in: TerminalSize(columns: 1, rows: 1), withColors: true) != nil)
    }
    #endif
}
