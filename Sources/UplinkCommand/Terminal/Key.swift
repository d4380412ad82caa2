// SPDX-License-Identifier: Apache-2.0

/// A key press, or a paste.
enum Key: Sendable, Hashable {
    /// A character, as it is typed.
    case character(Character)
    /// Ctrl with a letter, in lower case. Ctrl-C comes as a signal instead.
    case control(Character)
    case enter, escape, tab, backTab, backspace, delete
    case up, down, left, right, pageUp, pageDown, home, end
    /// Pasted text, unchanged (bracketed paste).
    case paste(String)

    /// Whether it is this letter, in either case.
    func isLetter(_ letter: Character) -> Bool {
        guard case .character(let typed) = self else { return false }
        return typed == letter || typed.lowercased() == String(letter)
    }
}
