// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a picture that can be shown.
enum PictureError: Error, Sendable, Equatable {
    case empty
    case notAPicture
    case truncated
    case damaged(String)
    case tooManyBytes
    case tooManyPixels(width: Int, height: Int)
    case tooLong(width: Int, height: Int)
}

extension PictureError: CustomStringConvertible {
    var description: String {
        switch self {
        case .empty: "the answer is empty"
        case .notAPicture: "the answer is not a picture (PNG, JPEG or GIF)"
        case .truncated: "the picture is cut short"
        case .damaged(let detail): "the picture is damaged: \(detail)"
        case .tooManyBytes: "the picture has more than \(ByteCount(PictureInfo.maximumBytes))"
        case .tooManyPixels(let width, let height):
            "the picture has \(width) × \(height) pixels; \(PictureInfo.maximumPixels / 1_000_000) million is the most"
        case .tooLong(let width, let height):
            "the picture has \(width) × \(height) pixels; \(PictureInfo.longestSide) on a side are the most"
        }
    }
}
