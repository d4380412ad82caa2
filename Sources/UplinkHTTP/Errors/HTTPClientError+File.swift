// SPDX-License-Identifier: Apache-2.0
import Glibc

extension HTTPClientError {
    /// The error for a file of a body that cannot be read or written.
    ///
    /// - Parameters:
    ///   - activity: What was being done, such as "writing `/srv/disk.iso`".
    ///   - number: `errno(3)`; 0 where the system was not asked.
    ///   - remedy: What to do about it.
    static func file(_ activity: String, _ number: CInt, _ remedy: String, phase: Phase) -> Self {
        let cause = number == 0 ? "" : "\(String(cString: strerror(number))); "
        let isShortage = number == EMFILE || number == ENFILE
        var error = Self(
            .fileFailed, phase: phase, requestDisposition: phase == .sink ? .responseStarted : .notSent,
            message: "\(activity): \(cause)\(isShortage ? "raise the limit on open files (ulimit -n)" : remedy)")
        error.errno = number
        return error
    }
}
