// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// Why a file may not get a name.
package enum NameObstacle: Sendable {
    /// A file has it, and is not to be replaced.
    case exists
    /// What has it is no regular file, and is never replaced.
    case isNoFile
    /// The file that has it is for somebody else to replace.
    case isOthers

    /// What is in the way at a path, and what to do about it.
    package func message(at path: FilePath) -> String {
        switch self {
        case .exists: "`\(path)` exists; choose another name, or ask for it to be replaced"
        case .isNoFile:
            "`\(path)` is a directory, a symbolic link or another thing that is no regular file; choose another name, "
                + "or the file that it leads to"
        case .isOthers:
            "`\(path)` belongs to somebody else, and in this directory nobody else may replace it; choose another name"
        }
    }
}

extension OpenDirectory {
    /// What keeps a file from getting a name; nil where nothing does.
    package func obstacle(to name: UnsafePointer<CChar>, replacing: Bool) throws(Errno) -> NameObstacle? {
        switch try hasRegularFile(name) {
        case nil: nil
        case false?: .isNoFile
        case true?: !replacing ? .exists : isForOthersToReplace(name) ? .isOthers : nil
        }
    }
}
