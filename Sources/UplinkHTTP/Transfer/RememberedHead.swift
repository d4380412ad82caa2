// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes

/// A final head as it came, and what it was read as.
///
/// The answers of one server are alike, and within a second often the same to the byte. Lines that begin a head as they
/// began the one before have been checked and copied already, so ``HeadParser`` takes over what was read then.
package final class RememberedHead: Sendable {
    /// Larger heads are not remembered.
    static let maximumBytes = 4096

    /// All lines, each with its line end, the empty one too.
    private let text: [UInt8]
    let method: HTTPRequest.Method
    let head: ReceivedHead

    /// Of which none is a repetition.
    package static let none = RememberedHead(
        [], method: .get,
        read: ReceivedHead(.ok, [:], Framing(kind: .none, contentLength: nil)))

    init(_ text: [UInt8], method: HTTPRequest.Method, read head: ReceivedHead) {
        (self.text, self.method, self.head) = (text, method, head)
    }

    /// Whether this line stands at a place. What has no line end is not known to be a whole line.
    func has(_ line: UnsafeRawBufferPointer, at place: Int) -> Bool {
        guard let start = line.baseAddress, line.last == 0x0A, line.count <= text.count - place else { return false }
        return text.withUnsafeBytes { text in text.baseAddress.map { memcmp($0 + place, start, line.count) } } == 0
    }

    /// Whether nothing comes after a place.
    func ends(at place: Int) -> Bool { place == text.count }

    /// What stands before a place.
    func text(upTo place: Int) -> ArraySlice<UInt8> { text[..<place] }
}

/// The lines of a head that may come to be remembered.
struct HeadRecord {
    /// The lines so far; nil when they are too long, or not whole.
    private(set) var text: [UInt8]?

    /// Begins with what another head began with.
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
