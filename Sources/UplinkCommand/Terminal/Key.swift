// SPDX-License-Identifier: Apache-2.0

/// What a person does on the keyboard.
enum Key: Sendable, Hashable {
    /// A character, as it is typed.
    case character(Character)
    /// Ctrl with a letter, in lower case. Ctrl-C comes as a signal.
    case control(Character)
    case enter, escape, tab, backTab, backspace, delete
    case up, down, left, right, pageUp, pageDown, home, end
    /// Text that was pasted at once, as it is (bracketed paste).
    case paste(String)

    /// Whether it is this letter, small or capital.
    func isLetter(_ letter: Character) -> Bool {
        guard case .character(let typed) = self else { return false }
        return typed == letter || typed.lowercased() == String(letter)
    }
}
