// SPDX-License-Identifier: Apache-2.0

/// What an input is taken for. All are in one program, so that all are built at once.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Datagrams of netlink.
    case messages
    /// Exchanges with a kernel that says what it likes.
    case conversations
    /// Heads of answers and their trailers, line by line.
    case heads
    /// Values of fields: dates, `Retry-After`, `Content-Range`, `Content-Disposition`.
    case fields
    /// URLs, and references that are resolved against them.
    case urls
    /// Bodies that come in pieces: lines, gzip, deflate.
    case bodies
    /// JSON of the files contract, and timestamps.
    case files
    /// Pictures.
    case pictures

    /// Takes one input, to its end or to the rule that it breaks.
    package func take(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        switch self {
        case .messages: try MessageFuzz.run(bytes)
        case .conversations: try ConversationFuzz.run(bytes)
        case .heads: try HeadFuzz.run(bytes)
        case .fields: try FieldFuzz.run(bytes)
        case .urls: try URLFuzz.run(bytes)
        case .bodies: try BodyFuzz.run(bytes)
        case .files: try FilesFuzz.run(bytes)
        case .pictures: try PictureFuzz.run(bytes)
        }
    }
}

/// What a target does first: the first byte, a letter, says which of its kinds an input is.
func kind(of bytes: UnsafeRawBufferPointer) -> (letter: Character, rest: [UInt8])? {
    bytes.first.map { (Character(Unicode.Scalar($0)), Array(bytes.dropFirst())) }
}
