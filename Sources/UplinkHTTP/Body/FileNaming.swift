// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// How a file that is whole gets its name, in one step.
package enum FileNaming {
    /// Gives a file its name, and takes its temporary one away.
    ///
    /// - Parameters:
    ///   - temporary: The name that it has.
    ///   - target: The name that it gets.
    ///   - directory: The directory that the names are relative to.
    ///   - replacing: Whether another file of that name may be replaced.
    /// - Throws: `Errno.fileExists` where something has the name, and it is not to be replaced.
    package static func rename(
        _ temporary: UnsafePointer<CChar>, to target: UnsafePointer<CChar>, in directory: CInt = AT_FDCWD,
        replacing: Bool
    ) throws(Errno) {
        if !replacing {
            // link(2) fails where the target exists; rename(2) would replace it.
            if linkat(directory, temporary, directory, target, 0) == 0 {
                unlinkat(directory, temporary, 0)
                return
            }
            guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw Errno(rawValue: errno) }
            // A file system without hard links.
            if faccessat(directory, target, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { throw .fileExists }
            guard errno == ENOENT else { throw Errno(rawValue: errno) }
        }
        guard renameat(directory, temporary, directory, target) == 0 else { throw Errno(rawValue: errno) }
    }
}
