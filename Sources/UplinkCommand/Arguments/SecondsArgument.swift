// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A time on the command line: seconds, with fractions; `inf` for no limit.
enum SecondsArgument {
    static func parse(_ text: String) throws -> Double {
        guard let seconds = Double(text), !seconds.isNaN, seconds >= 0 else {
            throw ValidationError("give seconds, zero or more, such as 0.5; or inf for no limit")
        }
        return seconds
    }

    /// The number without a needless fraction, such as `3 s`, for messages.
    static func text(_ seconds: Double) -> String {
        seconds == seconds.rounded() && seconds < 1e15 ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}
