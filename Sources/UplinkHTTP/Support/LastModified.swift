// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

/// `Last-Modified` (RFC 9110, section 8.8.2).
package enum LastModified {
    /// The field's exact value, if it is a strong validator: at least a minute older than the response, so that no
    /// second change can hide in the same second, whatever the clocks (section 8.8.2.2).
    package static func strong(in fields: HTTPFields) -> String? {
        let dates = fields[values: .lastModified]
        guard dates.count == 1, let date = fields[.date],
            let answered = HTTPDate.seconds(of: date, now: 0),
            let modified = HTTPDate.seconds(of: dates[0], now: answered),
            answered - modified >= 60
        else { return nil }
        return dates[0]
    }
}
