// SPDX-License-Identifier: Apache-2.0
package import Glibc
package import SystemPackage

/// Programs that a test's server needs, with their output in a file.
package enum Spawn {
    /// Starts a program; the caller waits for it.
    package static func start(_ arguments: [String], in directory: FilePath) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let log = directory.appending("output").string
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // A thread that came from an event loop's has all signals blocked, and the program would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var pid = pid_t()
        let status = posix_spawnp(&pid, arguments[0], &actions, &attributes, &pointers, environ)
        guard status == 0 else { throw SetupFailure(activity: "starting \(arguments[0])", errno: status) }
        return pid
    }

    /// Runs a program to its end and returns its status as `waitpid(2)` has it; zero is success.
    package static func run(_ arguments: [String], in directory: FilePath) throws -> CInt {
        let pid = try start(arguments, in: directory)
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Whether a program is in the search path.
    package static func has(_ program: String) -> Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin"
        let directories: [Substring] = path.split(separator: ":") + ["/usr/sbin"]
        return directories.contains { directory in access("\(directory)/\(program)", X_OK) == 0 }
    }

    /// Whether what is missing is a failure, not a reason to skip a test.
    package static var isCI: Bool { getenv("CI").map { String(cString: $0) } == "true" }
}
