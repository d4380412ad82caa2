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
        return arguments.withUnsafeMutableBufferPointer { $0.baseAddress.map(become) ?? EINVAL }
    }

    /// The same with the words behind this program's own `--`, byte for byte: Swift's strings have others where they are no
    /// UTF-8.
    static func becomeWhatFollowsTerminator() -> CInt {
        let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        let terminator = words.dropFirst().firstIndex { $0.map { strcmp($0, "--") } == 0 }
        guard let terminator else { return EINVAL }
        return become(CommandLine.unsafeArgv + terminator + 1)  // a null ends them (execve(2))
    }

    /// Whether this one was started as `uplink run`.
    static var isToRunAnother: Bool {
        CommandLine.argc > 1 && CommandLine.unsafeArgv[1].map { strcmp($0, "run") } == 0
    }

    /// The first of this program's own words that is not in UTF-8, as Swift's strings have it; nil when all are. Such a word
    /// would name another file in silence. What `run` starts gets its words as they are.
    static var wordThatIsNoText: String? {
        let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
            .compactMap(\.self)
        let own = isToRunAnother ? words.prefix { strcmp($0, "--") != 0 } : words[...]
        return own.first { String(validatingCString: $0) == nil }.map { String(cString: $0) }
    }

    private static func become(_ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
        guard let program = words.pointee else { return EINVAL }
        execvp(program, words)
        return errno
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
