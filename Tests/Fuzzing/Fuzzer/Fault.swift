// SPDX-License-Identifier: Apache-2.0

/// A rule that an input broke.
package struct Fault: Error, CustomStringConvertible {
    package let description: String
}

/// Throws a ``Fault`` where a rule does not hold.
func expect(_ isSo: Bool, _ rule: @autoclosure () -> String) throws(Fault) {
    if !isSo { throw Fault(description: rule()) }
}
