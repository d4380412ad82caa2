// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkTesting

/// A terminal's size in character cells.
package struct TerminalDimensions: Sendable {
    package var columns: UInt16
    package var rows: UInt16

    package init(columns: UInt16, rows: UInt16) { (self.columns, self.rows) = (columns, rows) }

    var window: winsize { winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0) }
}

/// The test's ends of a program's standard streams.
struct ProgramStreams: Sendable {
    /// Output and errors, or the terminal's one stream of both.
    let readers: [CInt]
    /// The program's ends; closed here once it has its own.
    private let writers: [CInt]
    private let terminalPath: String?

    init(terminal: TerminalDimensions?) throws {
        guard let terminal else {
            let pipes = try (0..<2).map { _ in
                var ends: [CInt] = [-1, -1]
                guard pipe(&ends) == 0 else { throw ProgramError("pipe") }
                for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
                return ends
            }
            (readers, writers, terminalPath) = (pipes.map { $0[0] }, pipes.map { $0[1] }, nil)
            return
        }
        var (master, slave): (CInt, CInt) = (-1, -1)
        var window = terminal.window
        guard openpty(&master, &slave, nil, nil, &window) == 0 else { throw ProgramError("making a pseudo-terminal") }
        for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var name = [CChar](repeating: 0, count: 64)
        guard ttyname_r(slave, &name, name.count) == 0 else { throw ProgramError("naming a pseudo-terminal") }
        let path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        (readers, writers, terminalPath) = ([master], [slave], path)
    }

    func spawn(_ command: [String], environment: [String: String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
            for writer in writers { Glibc.close(writer) }
        }
        // As a shell starts it: the threads of a test's pool have most signals blocked.
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        var flags = Int16(POSIX_SPAWN_SETSIGMASK)
        if let terminalPath {
            // A session's leader gets the first terminal that it opens as its controlling one.
            flags |= Self.newSession
            for descriptor in 0..<CInt(3) {
                posix_spawn_file_actions_addopen(&actions, descriptor, terminalPath, O_RDWR, 0)
            }
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            for (index, writer) in writers.enumerated() {
                posix_spawn_file_actions_adddup2(&actions, writer, CInt(index) + 1)
            }
        }
        posix_spawnattr_setflags(&attributes, flags)
        var variables = ProcessEnvironment.with(environment).map { strdup($0) } + [nil]
        var arguments = command.map { strdup($0) } + [nil]
        defer { for text in variables + arguments { free(text) } }
        var id: pid_t = 0
        let status = posix_spawn(&id, command[0], &actions, &attributes, &arguments, &variables)
        guard status == 0 else { throw ProgramError("starting \(command[0])", status) }
        return id
    }

    func type(_ keys: String) throws {
        var keys = Array(keys.utf8)
        guard write(readers[0], &keys, keys.count) == keys.count else { throw ProgramError("typing") }
    }

    func resize(to size: TerminalDimensions) {
        var window = size.window
        _ = ioctl(readers[0], UInt(TIOCSWINSZ), &window)
    }

    var terminalSettings: termios? {
        var settings = termios()
        return tcgetattr(readers[0], &settings) == 0 ? settings : nil
    }

    func close() { for reader in readers { Glibc.close(reader) } }

    /// `POSIX_SPAWN_SETSID`, which glibc declares for _GNU_SOURCE only.
    private static let newSession: Int16 = 0x80
}

/// A call of the system that failed.
struct ProgramError: Error, CustomStringConvertible {
    let description: String

    init(_ activity: String, _ number: CInt = errno) {
        description = "\(activity): \(String(cString: strerror(number)))"
    }
}
