// SPDX-License-Identifier: Apache-2.0

/// A path on a server, such as `/Pictures/cat.png`: names from the root.
struct RemotePath: Sendable, Hashable, CustomStringConvertible {
    var names: [String]

    /// Reads a path. Empty parts and `.` are ignored, `..` goes up; a slash at the beginning makes no difference.
    init(_ text: String) {
        names = []
        // By scalars, because a slash and a combining mark after it are one character.
        for part in text.unicodeScalars.split(separator: "/").map({ String($0) }) where part != "." {
            if part == ".." { _ = names.popLast() } else { names.append(part) }
        }
    }

    init(names: [String]) { self.names = names }

    var description: String { "/" + names.joined(separator: "/") }
    /// Whether it is the folder that all others are in.
    var isRoot: Bool { names.isEmpty }
    /// The folder it is in; the root's is the root.
    var parent: Self { Self(names: names.dropLast()) }
}
