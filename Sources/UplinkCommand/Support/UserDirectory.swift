// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// The directories in which a user's programs keep files (XDG Base Directory Specification).
enum UserDirectory {
    /// The directory that a variable names, or its default in the home directory; nil if there is neither. Paths that
    /// are not absolute are ignored.
    static func path(_ variable: String, inHome place: String) -> FilePath? {
        if let path = absolute(variable) { return path }
        return absolute("HOME").map { $0.pushing(FilePath(place)) }
    }

    private static func absolute(_ variable: String) -> FilePath? {
        guard let value = getenv(variable).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
        return FilePath(value)
    }
}
