// SPDX-License-Identifier: Apache-2.0

/// What a test could not get from the system.
package struct SetupFailure: Error {
    package let activity: String
    /// The system's error; zero if it gave none.
    package let errno: CInt

    package init(activity: String, errno: CInt) { (self.activity, self.errno) = (activity, errno) }
}

/// Something that a test needs is not there. (What does not come in time is a `WaitedInVain`.)
package struct Missing: Error, CustomStringConvertible {
    private let what: String

    package init(_ what: String) { self.what = what }

    package var description: String { "there is no \(what)" }
}
