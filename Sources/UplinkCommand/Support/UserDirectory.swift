// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// The directories in which a user's programs keep files (XDG Base Directory Specification).
enum UserDirectory {
    /// The directory that a variable names, or its default in the home directory; nil if there is neither. Paths that
    /// are not absolute are ignored, and so are those that are not UTF-8, which would become others.
    static func path(_ variable: String, inHome place: String) -> FilePath? {
        if let path = absolute(variable) { return path }
        return absolute("HOME").map { $0.pushing(FilePath(place)) }
    }

    /// Makes a directory, and those above it that are missing, for this user alone.
    ///
    /// - Throws: ``FilesError`` that names the one that cannot be made, with what to do instead.
    static func make(_ directory: FilePath, orElse advice: String) throws(FilesError) {
        var missing: [FilePath] = []
        var next = directory
        while access(next.string, F_OK) != 0 {
            missing.append(next)
            guard next.removeLastComponent(), !next.isEmpty else { break }
        }
        for directory in missing.reversed() where mkdir(directory.string, 0o700) != 0 && errno != EEXIST {
            let reason = String(cString: strerror(errno))
            throw FilesError(.localFile, "`\(directory)` cannot be made: \(reason); \(advice)")
        }
    }

    private static func absolute(_ variable: String) -> FilePath? {
        let value = getenv(variable).flatMap { String(validatingCString: $0) }
        return value.flatMap { $0.hasPrefix("/") ? FilePath($0) : nil }
    }
}
