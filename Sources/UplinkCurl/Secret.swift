// SPDX-License-Identifier: Apache-2.0

/// A text that `dump` and debuggers do not show.
struct Secret: Sendable, CustomReflectable {
    let text: String
    var customMirror: Mirror { Mirror(self, children: []) }
}
