// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

/// `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
package enum RetryAfter {
    /// Returns how long a server asks to be left alone; nil if it does not ask, or not in a readable form.
    ///
    /// A date is compared with the response's own `Date`, because two clocks seldom agree.
    ///
    /// - Parameter now: Seconds since 1970, for a response without `Date`.
    package static func pause(askedBy response: HTTPResponse, now: () -> Int64) -> Duration? {
        let values = Set(response.headerFields[values: .retryAfter])
        guard values.count == 1, let value = values.first, !value.isEmpty else { return nil }
        if value.utf8.allSatisfy(\.isDigit) { return .seconds(Int64(value) ?? .max) }
        let now = now()
        guard let date = HTTPDate.seconds(of: value, now: now) else { return nil }
        let reference = response.headerFields[.date].flatMap { HTTPDate.seconds(of: $0, now: now) } ?? now
        return .seconds(max(0, date - reference))
    }
}
