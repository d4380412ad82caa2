// SPDX-License-Identifier: Apache-2.0

/// The subset of JSON (RFC 8259) that a path needs.
struct JSON {
    let text: String

    static let null = JSON(text: "null")

    static func bool(_ value: Bool) -> Self { JSON(text: value ? "true" : "false") }

    static func number(_ value: UInt64) -> Self { JSON(text: String(value)) }

    static func number(_ value: UInt32?) -> Self { value.map { number(UInt64($0)) } ?? .null }

    /// An instant as seconds since the system was started, including time asleep: the clock of `/proc/uptime`.
    static func seconds(_ instant: ContinuousClock.Instant?) -> Self {
        guard let instant else { return .null }
        let time = ContinuousClock().systemEpoch.duration(to: instant)
        let milliseconds = max(0, time.nanosecondsRoundedDown / 1_000_000)
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        return JSON(text: "\(milliseconds / 1000).\(fraction)")
    }

    /// Sixteen hexadecimal digits in a string, because many programs read JSON numbers with 53 bits only.
    static func hexadecimal(_ value: UInt64?) -> Self {
        guard let value else { return .null }
        let digits = String(value, radix: 16)
        return .string(String(repeating: "0", count: 16 - digits.count) + digits)
    }

    static func array(_ values: [JSON]) -> Self {
        JSON(text: "[" + values.map(\.text).joined(separator: ",") + "]")
    }

    static func object(_ members: [(name: String, value: JSON)]) -> Self {
        JSON(text: "{" + members.map { string($0.name).text + ":" + $0.value.text }.joined(separator: ",") + "}")
    }

    /// A string; the kernel lets interface names hold quotes, backslashes and control characters.
    static func string(_ value: String?) -> Self {
        guard let value else { return .null }
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return JSON(text: text + "\"")
    }

    static func address(_ value: IPAddress?) -> Self { .string(value?.description) }
}
