// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Other programs: found, become, run.
enum Program {
    /// Replaces this process by a program, looked up in `PATH` (`execvp(3)`).
    ///
    /// - Returns: The error's number; only when it failed.
    static func become(_ command: [String]) -> CInt {
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return arguments.withUnsafeMutableBufferPointer { arguments in
            guard let start = arguments.baseAddress, let program = start.pointee else { return EINVAL }
            execvp(program, start)
            return errno
        }
    }

    /// The path of a program in `PATH`, or where an administrator's programs are: Debian leaves those out for users.
    static func path(of name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin", "/usr/bin", "/bin"])
            .map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The path of this program.
    static var own: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        guard length > 0, length < buffer.count else { return nil }
        return String(decoding: buffer.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
