// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Finding, running and becoming other programs.
enum Program {
    /// Replaces this process by a program, looked up in `PATH` (`execvp(3)`).
    ///
    /// - Returns: The error number; returns only when it failed.
    static func become(_ command: [String]) -> CInt {
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return arguments.withUnsafeMutableBufferPointer { $0.baseAddress.map(become) ?? EINVAL }
    }

    /// The same with the arguments after this program's own `--`, byte for byte: Swift's strings would change bytes
    /// that are not UTF-8.
    static func becomeWhatFollowsTerminator() -> CInt {
        let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        let terminator = words.dropFirst().firstIndex { $0.map { strcmp($0, "--") } == 0 }
        guard let terminator else { return EINVAL }
        return become(CommandLine.unsafeArgv + terminator + 1)  // a null ends them (execve(2))
    }

    /// Whether the environment is also another program's, which `run` starts; to show its help it starts none.
    static var sharesEnvironment: Bool {
        isToRunAnother && !["-h", "--help"].contains(CommandLine.arguments.dropFirst(2).first)
    }

    /// Whether this one was started as `uplink run`.
    static var isToRunAnother: Bool {
        CommandLine.argc > 1 && CommandLine.unsafeArgv[1].map { strcmp($0, "run") } == 0
    }

    /// The number of the first of this program's own arguments that is not UTF-8; nil when all are. Such an argument
    /// would silently name another file. A program started by `run` gets its arguments unchanged.
    static var argumentThatIsNoText: Int? {
        let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
            .compactMap(\.self)
        let own = isToRunAnother ? words.prefix { strcmp($0, "--") != 0 } : words[...]
        return own.firstIndex { String(validatingCString: $0) == nil }.map { $0 - own.startIndex + 1 }
    }

    private static func become(_ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
        guard let program = words.pointee else { return EINVAL }
        execvp(program, words)
        return errno
    }

    /// The path of a program in `PATH` or the administrator's directories, which Debian leaves out of users' `PATH`.
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
