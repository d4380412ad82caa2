// SPDX-License-Identifier: Apache-2.0

/// A picture that was checked, and decoded if this build can.
struct Picture: Sendable, Equatable {
    let info: PictureInfo
    /// Red, green, blue and opacity of every pixel; nil without the trait `Pictures`, and for other files than PNG.
    let pixels: [UInt8]?

    /// Checks a file's bytes against the limits, then decodes them.
    ///
    /// - Throws: ``PictureError`` when they are not a whole picture.
    init(file: [UInt8]) throws(PictureError) {
        info = try PictureInfo(file)
        #if Pictures
        switch info.format {
        case .png: pixels = try PNGDecoder.pixels(of: file, info)
        case .jpeg, .gif: pixels = nil
        }
        #else
        pixels = nil
        #endif
    }

    /// Why it is described instead of drawn; nil if it can be drawn.
    var reasonNotDrawn: String? {
        guard pixels == nil else { return nil }
        #if Pictures
        return "Only PNG is drawn."
        #else
        return "This build draws no pictures."
        #endif
    }
}
