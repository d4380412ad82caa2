// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A number of bytes on the command line, with curl(1)'s suffixes: powers of 1024.
enum SizeArgument {
    static func parse(_ text: String) throws -> Int64 {
        let units: [Character: Int64] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40]
        let unit = text.last.flatMap { units[Character($0.lowercased())] }
        guard let number = Int64(unit == nil ? text[...] : text.dropLast()), number > 0 else { throw wrong }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLarge else { throw wrong }
        return bytes
    }

    private static let wrong = ValidationError("give a number of bytes, more than zero, such as 500000 or 200M")
}
