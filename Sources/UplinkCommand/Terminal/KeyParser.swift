// SPDX-License-Identifier: Apache-2.0

/// Parses keys from the bytes that a terminal sends (ECMA-48; xterm's control sequences), however they are split.
///
/// Unknown sequences are skipped as a whole, including answers of the terminal. No I/O, no time.
struct KeyParser: Sendable {
    private enum State: Sendable {
        /// Nothing has begun.
        case ground
        /// The first bytes of a character that has several.
        case character([UInt8])
        /// ESC: the key itself, if nothing follows soon.
        case escape
        /// ESC O: the byte of a key follows.
        case singleShift
        /// ESC [: what has come of a control sequence so far.
        case sequence([UInt8])
        /// ESC [ [: a function key of the Linux console; one more byte follows.
        case consoleKey
        /// A paste, of which ``pasted`` has come so far.
        case paste
        /// A text that the terminal sends, until BEL or ESC \.
        case answer(endsWithNext: Bool)
    }

    /// The most bytes of one paste; the rest is dropped.
    static let maximumPaste = 65_536
    private static let pasteEnd = Array("\u{1B}[201~".utf8)
    /// The most bytes of a meaningful sequence; answers of the terminal are longer.
    private static let maximumSequence = 32
    private var state = State.ground
    private var pasted: [UInt8] = []

    /// After how long to call ``timeOut()`` if nothing follows; nil for never.
    ///
    /// ESC alone is a key. The rest of anything else comes soon, even over a slow connection; a paste may be slow, but
    /// one whose end is lost must not swallow all following keys.
    var patience: Duration? {
        switch state {
        case .ground, .character: nil
        case .escape: .milliseconds(50)
        case .singleShift, .sequence, .consoleKey, .answer: .seconds(1)
        case .paste: .seconds(5)
        }
    }

    /// The keys that these bytes complete.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] { bytes.compactMap { take($0) } }

    /// Handles that nothing has followed: ESC alone is a key, a paste ends with what has come of it, and anything else
    /// is no key.
    mutating func timeOut() -> Key? {
        defer { (state, pasted) = (.ground, []) }
        switch state {
        case .escape: return .escape
        case .paste: return .paste(String(decoding: pasted.prefix(Self.maximumPaste), as: UTF8.self))
        case .ground, .character, .singleShift, .sequence, .consoleKey, .answer: return nil
        }
    }

    private mutating func take(_ byte: UInt8) -> Key? {
        switch state {
        case .ground: return begin(byte)
        case .character(let bytes): return character(bytes + [byte])
        case .escape: return afterEscape(byte)
        case .singleShift:
            state = .ground
            return Self.key(final: byte, number: 1)
        case .sequence(let bytes): return sequence(bytes, byte)
        case .consoleKey: state = .ground
        case .paste: return paste(byte)
        case .answer(let endsWithNext):
            let isEnd = byte == 0x07 || endsWithNext && byte == UInt8(ascii: "\\")
            state = isEnd ? .ground : .answer(endsWithNext: byte == 0x1B)
        }
        return nil
    }

    private mutating func begin(_ byte: UInt8) -> Key? {
        state = .ground
        switch byte {
        case 0x1B: state = .escape
        case 0x0A, 0x0D: return .enter
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case 0x00, 0x1C...0x1F: break
        case 0x01...0x1A: return .control(Character(Unicode.Scalar(byte + 0x60)))
        case 0x20...0x7E: return .character(Character(Unicode.Scalar(byte)))
        default: if Self.length(startingWith: byte) > 1 { state = .character([byte]) }
        }
        return nil
    }

    /// Returns one scalar at a time: those of one character may come separately, and a text joins them again.
    private mutating func character(_ bytes: [UInt8]) -> Key? {
        guard let last = bytes.last, (0x80...0xBF).contains(last) else { return begin(bytes.last ?? 0) }
        guard bytes.count == Self.length(startingWith: bytes[0]) else {
            state = .character(bytes)
            return nil
        }
        state = .ground
        return String(validating: bytes, as: UTF8.self)?.first.map { .character($0) }
    }

    private static func length(startingWith byte: UInt8) -> Int {
        switch byte {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }

    private mutating func afterEscape(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "["): state = .sequence([])
        case UInt8(ascii: "O"): state = .singleShift
        case UInt8(ascii: "P"), UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "^"), UInt8(ascii: "X"):
            state = .answer(endsWithNext: false)
        case 0x1B: return .escape  // and another sequence has begun
        default: state = .ground  // Alt with a key means nothing here
        }
        return nil
    }

    private mutating func sequence(_ bytes: [UInt8], _ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "[") where bytes.isEmpty: state = .consoleKey
        case 0x40...0x7E:
            state = .ground
            let number = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                .reduce(0) { min(9999, $0 * 10 + Int($1 - UInt8(ascii: "0"))) }
            if byte == UInt8(ascii: "~"), number == 200 { state = .paste }
            return Self.key(final: byte, number: number)
        case 0x20...0x3F: if bytes.count < Self.maximumSequence { state = .sequence(bytes + [byte]) }
        default: return begin(byte)  // cut off
        }
        return nil
    }

    private static func key(final: UInt8, number: Int) -> Key? {
        switch (final, number) {
        case (UInt8(ascii: "A"), _): .up
        case (UInt8(ascii: "B"), _): .down
        case (UInt8(ascii: "C"), _): .right
        case (UInt8(ascii: "D"), _): .left
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), 1), (UInt8(ascii: "~"), 7): .home
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), 4), (UInt8(ascii: "~"), 8): .end
        case (UInt8(ascii: "M"), 1): .enter  // of a keypad, with ESC O
        case (UInt8(ascii: "Z"), _): .backTab
        case (UInt8(ascii: "~"), 3): .delete
        case (UInt8(ascii: "~"), 5): .pageUp
        case (UInt8(ascii: "~"), 6): .pageDown
        default: nil
        }
    }

    private mutating func paste(_ byte: UInt8) -> Key? {
        pasted.append(byte)
        if byte == Self.pasteEnd.last, pasted.suffix(Self.pasteEnd.count).elementsEqual(Self.pasteEnd) {
            defer { (state, pasted) = (.ground, []) }
            let text = pasted.dropLast(Self.pasteEnd.count).prefix(Self.maximumPaste)
            return .paste(String(decoding: text, as: UTF8.self))
        }
        // Keeps what may be the beginning of the end marker.
        if pasted.count > Self.maximumPaste + Self.pasteEnd.count { pasted.remove(at: Self.maximumPaste) }
        return nil
    }
}
