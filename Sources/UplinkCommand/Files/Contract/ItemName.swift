// SPDX-License-Identifier: Apache-2.0

/// The rules for an item's name.
///
/// The server decides: a client sends the name it was given, and shows the refusal.
enum ItemName {
    /// What is wrong with a name; nil when nothing is.
    static func problem(with name: String) -> String? {
        if name.isEmpty { return "a name cannot be empty" }
        if name == "." || name == ".." { return "`\(name)` is no name" }
        for scalar in name.unicodeScalars {
            if scalar.properties.generalCategory == .control { return "a name cannot hold control characters" }
            if #"\/"*?<>|:"#.unicodeScalars.contains(scalar) { return "a name cannot hold `\(scalar)`" }
        }
        return nil
    }

    /// Whether the rules permit a name.
    static func isValid(_ name: String) -> Bool { problem(with: name) == nil }
}
