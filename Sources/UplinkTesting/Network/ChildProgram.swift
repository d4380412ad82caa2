// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A program in a process group of its own, whose output goes to unnamed files, so that no one has to read along.
struct ChildProgram: ~Copyable {
    private let name: String
    private let id: pid_t
    private let output: UnnamedFile
    private let errors: UnnamedFile
    private var hasEnded = false

    /// Starts a program, given by its path or found in `PATH`.
    init(
        _ command: [String], input text: String = "", environment: [String: String] = [:]
    ) throws(TestNetworkError) {
        guard !(command + environment.keys + environment.values).contains(where: { $0.utf8.contains(0) }) else {
            let message = "a word or variable for `\(command[0])` contains a NUL, which no program can be given"
            throw TestNetworkError(.cannotStart, message: message)
        }
        let input = try UnnamedFile(text)
        let output = try UnnamedFile()
        let errors = try UnnamedFile()
        let streams = [input.descriptor, output.descriptor, errors.descriptor]
        id = try Self.spawn(command, streams: streams, environment: ProcessEnvironment.with(environment))
        name = command.joined(separator: " ")
        self.output = output
        self.errors = errors
    }

    deinit {
        guard !hasEnded else { return }
        kill(-id, SIGKILL)
        while waitpid(id, nil, 0) < 0, errno == EINTR {}
    }

    /// Waits for the end without blocking a thread.
    consuming nonisolated(nonsending) func result(within limit: Duration) async throws -> ProgramResult {
        let deadline = ContinuousClock.now + limit.clamped
        while true {
            if let result = resultIfEnded() { return result }
            guard ContinuousClock.now < deadline else { throw timedOut(limit) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits for the end on the calling thread.
    consuming func waitForResult(within limit: Duration) throws(TestNetworkError) -> ProgramResult {
        let deadline = ContinuousClock.now + limit.clamped
        while true {
            if let result = resultIfEnded() { return result }
            guard ContinuousClock.now < deadline else { throw timedOut(limit) }
            usleep(200)
        }
    }

    private mutating func resultIfEnded() -> ProgramResult? {
        var status: CInt = 0
        guard waitpid(id, &status, WNOHANG) == id else { return nil }
        hasEnded = true
        let outcome = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
        return ProgramResult(status: outcome, output: output.contents, errors: errors.contents)
    }

    private func timedOut(_ limit: Duration) -> TestNetworkError {
        let written = output.contents + errors.contents
        return TestNetworkError(
            .timedOut, message: "`\(name)` did not end within \(limit) and was killed; it wrote: \(written)")
    }

    private static func spawn(
        _ command: [String], streams: [CInt], environment: [String]
    ) throws(TestNetworkError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, stream) in streams.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, stream, CInt(number))
        }
        // As if started by a shell: threads of the test's pool, or of an event loop, have signals blocked.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var arguments = command.map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var id = pid_t()
        let status = posix_spawnp(&id, command[0], &actions, &attributes, &arguments, &variables)
        guard status == 0 else { throw .cannotStart(command.joined(separator: " "), errno: status) }
        return id
    }
}

/// A temporary file that no one else can open, and that is gone when it is closed.
private struct UnnamedFile: ~Copyable {
    let descriptor: CInt

    init(_ contents: String = "") throws(TestNetworkError) {
        var name = Array("/tmp/uplink-test-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw .cannotStart("a file in /tmp", errno: errno) }
        unlink(name)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var rest = Array(contents.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw .cannotStart("a file in /tmp", errno: errno) }
            rest = rest.dropFirst(max(0, count))
        }
        lseek(descriptor, 0, SEEK_SET)
    }

    deinit { close(descriptor) }

    /// Everything written so far, wherever the writer's offset is.
    var contents: String {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65536))
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(bytes.count))
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
    }
}
