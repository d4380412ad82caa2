// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A child process with pipes to its input and output, which ends when its input ends.
final class ChildProcess: Sendable {
    /// The process id.
    let id: pid_t
    private let input: CInt
    private let output: CInt

    /// Starts a program by its path, in a process group of its own, so that the terminal's Ctrl-C does not reach it.
    init(_ command: [String]) throws(CommandFailure) {
        var (toChild, fromChild): ([CInt], [CInt]) = ([-1, -1], [-1, -1])
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
            let reason = String(cString: strerror(errno))
            for descriptor in toChild where descriptor >= 0 { close(descriptor) }
            throw CommandFailure("no pipe: \(reason)")
        }
        for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_adddup2(&actions, toChild[0], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], STDOUT_FILENO)
        // Sets signals as a shell would: this thread has them blocked, and this program ignores SIGPIPE.
        var (none, pipe) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &pipe)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var id: pid_t = 0
        let status = posix_spawn(&id, command[0], &actions, &attributes, &arguments, environ)
        for argument in arguments { free(argument) }
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
        close(toChild[0])
        close(fromChild[1])
        (self.id, input, output) = (id, toChild[1], fromChild[0])
        guard status == 0 else {
            throw CommandFailure("`\(command[0])` cannot be started: \(String(cString: strerror(status)))")
        }
    }

    deinit {
        close(input)
        close(output)
    }

    /// Sends text to the process.
    func write(_ text: String) throws { try Output(descriptor: input).write(text) }

    /// Waits until the process has written a line, and returns whether it is this one.
    func says(_ expected: String) -> Bool {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) == expected }
            line.append(byte)
        }
        return false
    }

    /// Kills the process, and waits until it is gone. May be called once.
    func kill() {
        Glibc.kill(id, SIGKILL)
        _ = wait()
    }

    /// Runs a program to its end.
    ///
    /// - Returns: Its exit status, or 128 plus the signal's number.
    static func run(_ command: [String], input text: String = "") throws -> CInt {
        let child = try ChildProcess(command)
        do { try child.write(text) } catch {
            child.kill()
            throw error
        }
        return child.wait()
    }

    /// Closes the process's input and waits for its end.
    private func wait() -> CInt {
        dup2(output, input)  // closes the pipe to the child; the number stays taken until the end
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }
}
