// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// Texts that C programs read, which last as long as this does.
final class CStrings: Sendable {
    private struct State: @unchecked Sendable {  // the texts are written before they are shared and never after
        var texts: [String: UnsafeMutablePointer<CChar>] = [:]
    }

    private let state = Locked(State())

    deinit { state.withLock { for text in $0.texts.values { free(text) } } }

    /// A text as C has it; nil for nil, and where there is no memory.
    func text(_ text: String?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        return state.withLock { state in
            if let known = state.texts[text] { return Sent(known) }
            guard let copy = strdup(text) else { return Sent(nil) }
            state.texts[text] = copy
            return Sent(copy)
        }.pointer
    }

    private struct Sent: @unchecked Sendable {  // as above
        let pointer: UnsafePointer<CChar>?

        init(_ pointer: UnsafeMutablePointer<CChar>?) { self.pointer = pointer.map { UnsafePointer($0) } }
    }
}
