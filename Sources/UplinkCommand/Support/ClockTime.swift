// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The time as on a clock, rounded up to whole seconds: `0:07`, `1:02:03`.
    var onTheClock: String {
        let whole = Int(min(max(0, inSecondsRoundedUp), 3_599_999))
        let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60)
        let tail = "\(minutes):\(seconds < 10 ? "0" : "")\(seconds)"
        return hours == 0 ? tail : "\(hours):\(minutes < 10 ? "0" : "")\(tail)"
    }

    /// The time that something took, for a person: `0.4 s`, `17 s`, `2:05`.
    var taken: String {
        let seconds = Double(components.seconds) + Double(components.attoseconds) / 1e18
        if seconds < 9.95 { return "\((max(0, seconds) * 10).rounded() / 10) s" }
        return seconds < 59.5 ? "\(Int(seconds.rounded())) s" : onTheClock
    }

    private var inSecondsRoundedUp: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
