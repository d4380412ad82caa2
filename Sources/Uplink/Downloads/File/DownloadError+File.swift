// SPDX-License-Identifier: Apache-2.0
import Glibc

extension DownloadError {
    /// The error for a system call that failed.
    ///
    /// - Parameters:
    ///   - activity: What was being done, such as "writing `/srv/disk.iso`".
    ///   - number: `errno(3)`.
    ///   - remedy: What to do about it, unless the number suggests something better.
    static func file(_ activity: String, _ number: CInt, _ remedy: String = "check the disk and the file's path")
        -> Self
    {
        let (code, remedy): (Code, String) =
            switch number {
            case ENOSPC, EDQUOT: (.diskFull, "make room on the disk, then download again")
            case EFBIG: (.diskFull, "files may not be so large here; see `ulimit -f` and the file system")
            case EACCES, EPERM: (.notWritable, "the directory must be writable for this user")
            case EROFS: (.notWritable, "the file system is mounted read-only; choose another directory")
            case ENOENT, ENOTDIR: (.fileFailed, "the directory must exist")
            case EMFILE, ENFILE: (.fileFailed, "raise the limit on open files (ulimit -n)")
            case ENAMETOOLONG: (.fileFailed, "choose a shorter name")
            default: (.fileFailed, remedy)
            }
        var error = Self(code, message: "\(activity): \(String(cString: strerror(number))); \(remedy)")
        error.errno = number
        return error
    }
}
