// SPDX-License-Identifier: Apache-2.0

/// Seconds as a person reads them, three digits at most.
func time(_ seconds: Double) -> String {
    let (scale, unit) =
        switch abs(seconds) {
        case ..<1e-6: (1e9, "ns")
        case ..<1e-3: (1e6, "µs")
        case ..<1: (1e3, "ms")
        default: (1, "s")
        }
    return "\(digits(seconds * scale)) \(unit)"
}

func bytes(_ count: Double) -> String {
    abs(count) < 10_000
        ? "\(digits(count)) B" : abs(count) < 1e7 ? "\(digits(count / 1e3)) kB" : "\(digits(count / 1e6)) MB"
}

func ratio(_ value: Double, to baseline: Double) -> String {
    baseline > 0 ? "\(digits(value / baseline)) ×" : "–"
}

/// 1000000 as "1,000,000".
func grouped(_ count: Int) -> String {
    var digits = String(count)
    var groups: [Substring] = []
    while digits.count > 3 {
        groups.insert(digits.suffix(3), at: 0)
        digits.removeLast(3)
    }
    return ([Substring(digits)] + groups).joined(separator: ",")
}

private func digits(_ value: Double) -> String {
    let places = abs(value) >= 99.5 ? 0 : abs(value) >= 9.95 ? 1 : 2
    let scale = [1.0, 10, 100][places]
    let scaled = Int((value * scale).rounded())
    guard places > 0 else { return grouped(scaled) }
    let fraction = String(abs(scaled) % Int(scale))
    let padding = String(repeating: "0", count: places - fraction.count)
    return "\(scaled < 0 ? "-" : "")\(abs(scaled) / Int(scale)).\(padding)\(fraction)"
}
