// SPDX-License-Identifier: Apache-2.0

/// What keeps a command from doing its work, in one line that says what to do.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
