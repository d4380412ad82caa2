// SPDX-License-Identifier: Apache-2.0
#if Pictures
import CPNG

/// Decodes PNG files with libpng's simplified interface, which reports errors without `longjmp`.
enum PNGDecoder {
    /// Four bytes for each pixel, row by row, of a file whose size was checked.
    static func pixels(of file: [UInt8], _ info: PictureInfo) throws(PictureError) -> [UInt8] {
        var image = png_image()
        image.version = uplink_png_image_version
        defer { png_image_free(&image) }
        // The file must stay where it is from the first call to the last.
        let pixels: [UInt8]? = file.withUnsafeBytes { file in
            guard png_image_begin_read_from_memory(&image, file.baseAddress, file.count) != 0,
                (Int(image.width), Int(image.height)) == (info.width, info.height)
            else { return nil }
            image.format = uplink_png_format_rgba
            var pixels = [UInt8](repeating: 0, count: 4 * info.width * info.height)
            return png_image_finish_read(&image, nil, &pixels, 0, nil) != 0 ? pixels : nil
        }
        guard let pixels else { throw .damaged(message(of: image)) }
        return pixels
    }

    private static func message(of image: png_image) -> String {
        let text = withUnsafeBytes(of: image.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return text.isEmpty ? "its parts contradict each other" : text
    }
}
#endif
