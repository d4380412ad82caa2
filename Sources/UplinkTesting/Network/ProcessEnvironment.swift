// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The variables that the process was started with.
package enum ProcessEnvironment {
    static subscript(name: String) -> String? { getenv(name).map { String(cString: $0) } }

    static var isCI: Bool { Self["CI"] == "true" }

    /// All variables, with these changes; an empty value unsets one.
    package static func with(_ changes: [String: String]) -> [String] {
        var variables: [String: String] = [:]
        var next = environ
        while let variable = next.pointee {
            let parts = String(cString: variable).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            variables[String(parts[0])] = parts.count == 2 ? String(parts[1]) : ""
            next += 1
        }
        variables.merge(changes) { _, new in new }
        return variables.filter { changes[$0.key] != "" }.map { "\($0.key)=\($0.value)" }
    }
}
