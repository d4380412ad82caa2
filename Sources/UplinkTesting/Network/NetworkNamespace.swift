// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A separate network stack, as managed by `ip netns`: one end of a ``TestNetwork``.
public struct NetworkNamespace: Sendable, Hashable {
    /// The time that `ip` may take. It takes milliseconds, but may have to wait for the kernel's lock on its networks.
    private static let patience = Duration.seconds(20)
    private static let directory = "/run/netns"

    /// The name under which `ip netns` knows it.
    public let name: String

    /// The file that represents it, for `setns(2)` and for `withEventLoop(networkNamespace:)`.
    public var path: String { "\(Self.directory)/\(name)" }

    /// Runs `ip -n <name>` with the words of a command, such as `link set eth0 down`.
    ///
    /// Blocks for the milliseconds that this takes; the effect is there when it returns.
    ///
    /// - Throws: ``TestNetworkError`` with what `ip` said.
    public func ip(_ command: String) throws(TestNetworkError) {
        try IPCommand.run(["-n", name] + command.split(separator: " ").map(String.init), within: Self.patience)
    }

    /// Runs many commands of `ip` in one process: one after the other, without a pause, up to the first that fails.
    public func batch(_ commands: [String]) throws(TestNetworkError) {
        let input = commands.joined(separator: "\n") + "\n"
        try IPCommand.run(["-n", name, "-batch", "-"], input: input, within: Self.patience * 10)
    }

    /// Sets a sysctl of the namespace.
    ///
    /// - Parameters:
    ///   - setting: Its path under `/proc/sys/net`, such as `ipv4/conf/all/forwarding`.
    ///   - value: What to write.
    public func set(_ setting: String, to value: Int) throws(TestNetworkError) {
        let write = "echo \(value) >/proc/sys/net/\(setting)"
        try IPCommand.run(["netns", "exec", name, "/bin/sh", "-c", write], within: Self.patience)
    }

    /// Returns the command line that runs a program in the namespace, for tests that start programs themselves.
    ///
    /// `ip netns exec` turns into the program, so there is one process with one process id.
    public func entering(_ command: [String]) -> [String] {
        [IPCommand.path ?? "ip", "netns", "exec", name] + command
    }

    /// Runs a program in the namespace to its end.
    ///
    /// Its input is empty, and it begins with no signal blocked. When the time is up or the task is cancelled, it is
    /// killed with everything that it has started (its process group).
    ///
    /// - Parameters:
    ///   - command: The program, given by its path or found in `PATH`, and its arguments.
    ///   - limit: The time that it may take.
    ///   - environment: Variables in addition to the test's; an empty value unsets one.
    /// - Returns: What it wrote and how it ended. A status other than 0 is not an error, nor is a program that does not
    ///   exist: `ip netns exec` writes so to standard error and ends with a status of its own.
    /// - Throws: ``TestNetworkError`` when it does not end in time; `CancellationError`.
    public nonisolated(nonsending) func run(
        _ command: [String], within limit: Duration = .seconds(30), environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        guard IPCommand.path != nil else { throw TestNetworkError.toolMissing }
        return try await ChildProgram(entering(command), environment: environment).result(within: limit)
    }

    static func make() throws(TestNetworkError) -> Self {
        let random = UInt64.random(in: 0 ... .max)
        let namespace = Self(name: "uplink-test-\(getpid())-\(String(random, radix: 16))")
        do throws(TestNetworkError) {
            try IPCommand.run(["netns", "add", namespace.name], within: patience)
        } catch  where error.code == .commandFailed {
            throw .notPermitted(error.message)
        }
        return namespace
    }

    /// Removes the namespace, and with it its interfaces.
    func remove() { try? IPCommand.run(["netns", "del", name], within: Self.patience) }
}
