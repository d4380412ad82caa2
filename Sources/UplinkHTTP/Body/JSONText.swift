// SPDX-License-Identifier: Apache-2.0

/// Checks JSON before Foundation's decoder reads it, which ends the process where the 513th level of nesting begins.
package enum JSONText {
    /// How deep arrays and objects may be nested; RFC 8259, section 9, allows a limit.
    package static let maximumDepth = 512

    /// Returns why a text is not to be decoded, in a few words, or nil. Whether it is JSON at all is for the decoder.
    package static func objection(to text: [UInt8]) -> String? {
        var (depth, isInString, isEscaped) = (0, false, false)
        for byte in text {
            switch byte {
            case 0: return "it is not in UTF-8"  // in UTF-16 and UTF-32 every bracket has one beside it
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isInString: isEscaped = true
            case UInt8(ascii: "\""): isInString.toggle()
            case _ where isInString: break
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth > maximumDepth { return "it is nested deeper than \(maximumDepth) levels" }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return nil
    }
}
