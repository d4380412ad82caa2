// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes

/// The bytes of a final head, and the result of parsing them.
///
/// The responses of one server are alike, and within a second often identical to the byte. Lines at the beginning of a
/// head that repeat the previous head have already been checked and copied, so ``HeadParser`` takes over what it parsed
/// then.
package final class RememberedHead: Sendable {
    /// Larger heads are not remembered.
    static let maximumBytes = 4096

    /// All lines, including the empty one, each with its line end.
    private let text: [UInt8]
    let method: HTTPRequest.Method
    let head: ReceivedHead

    /// Matches no line.
    package static let none = RememberedHead(
        [], method: .get,
        read: ReceivedHead(.ok, [:], Framing(kind: .none, contentLength: nil)))

    init(_ text: [UInt8], method: HTTPRequest.Method, read head: ReceivedHead) {
        (self.text, self.method, self.head) = (text, method, head)
    }

    /// Whether this line is at a position. Without a line end it is not known to be a whole line.
    func has(_ line: UnsafeRawBufferPointer, at place: Int) -> Bool {
        guard let start = line.baseAddress, line.last == 0x0A, line.count <= text.count - place else { return false }
        return text.withUnsafeBytes { text in text.baseAddress.map { memcmp($0 + place, start, line.count) } } == 0
    }

    /// Whether a position is the end.
    func ends(at place: Int) -> Bool { place == text.count }

    /// The bytes before a position.
    func text(upTo place: Int) -> ArraySlice<UInt8> { text[..<place] }
}

/// Collects the lines of a head that may be remembered.
struct HeadRecord {
    /// The lines so far; nil when they are too long, or not complete.
    private(set) var text: [UInt8]?

    /// Begins a head with the beginning of another.
    mutating func begin(with start: ArraySlice<UInt8> = []) {
        text = []
        text?.reserveCapacity(512)
        text?.append(contentsOf: start)
    }

    mutating func add(_ line: UnsafeRawBufferPointer) {
        guard let count = text?.count, count + line.count <= RememberedHead.maximumBytes, line.last == 0x0A else {
            return text = nil
        }
        text?.append(contentsOf: line)
    }

    mutating func take() -> [UInt8]? {
        defer { text = nil }
        return text
    }
}
