// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// Where a user's programs keep things (XDG Base Directory Specification).
enum UserDirectory {
    /// The directory that a variable names, or the one in the home directory that stands for it; nil where there is neither.
    /// What is no absolute path is not heeded.
    static func path(_ variable: String, inHome place: String) -> FilePath? {
        if let path = absolute(variable) { return path }
        return absolute("HOME").map { $0.pushing(FilePath(place)) }
    }

    private static func absolute(_ variable: String) -> FilePath? {
        guard let value = getenv(variable).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
        return FilePath(value)
    }
}
