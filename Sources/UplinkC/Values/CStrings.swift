// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// Texts that C programs read, which last as long as this does.
final class CStrings: Sendable {
    private struct State: @unchecked Sendable {  // the texts are written before they are shared and never after
        /// By their bytes, because texts that are equal in Swift may differ in bytes.
        var texts: [[CChar]: UnsafeMutablePointer<CChar>] = [:]
    }

    private let state = Locked(State())

    deinit { state.withLock { for text in $0.texts.values { free(text) } } }

    /// A text as a C string; nil for nil, and if there is no memory.
    func text(_ text: String?) -> UnsafePointer<CChar>? { bytes(text.map { Array($0.utf8CString.dropLast()) }) }

    /// Bytes as a C string, up to the first zero; nil for nil, and if there is no memory.
    func bytes(_ bytes: [CChar]?) -> UnsafePointer<CChar>? {
        guard let bytes else { return nil }
        return state.withLock { state in
            if let known = state.texts[bytes] { return Sent(known) }
            guard let copy = strndup(bytes, bytes.count) else { return Sent(nil) }
            state.texts[bytes] = copy
            return Sent(copy)
        }.pointer
    }

    private struct Sent: @unchecked Sendable {  // as above
        let pointer: UnsafePointer<CChar>?

        init(_ pointer: UnsafeMutablePointer<CChar>?) { self.pointer = pointer.map { UnsafePointer($0) } }
    }
}
