// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A network namespace that a test made: a network stack of its own, with nothing in it but a loopback that is down.
package struct NetworkNamespace: Sendable {
    /// The name under which `ip netns` and `withEventLoop(networkNamespace:)` know it.
    package let name: String

    /// Runs `ip -n <name> …` with the words of a command line.
    package func ip(_ command: String) throws {
        try Self.run(["/sbin/ip", "-n", name] + command.split(separator: " ").map(String.init))
    }

    /// Runs many commands of `ip` in one process: one after the other, without a pause.
    package func batch(_ commands: [String]) throws {
        let path = "/tmp/\(name).batch"
        try Self.write(commands.joined(separator: "\n") + "\n", to: path)
        defer { unlink(path) }
        try Self.run(["/sbin/ip", "-n", name, "-batch", path])
    }

    /// Sets a sysctl of the namespace, named by its path under `/proc/sys/net`.
    package func set(_ setting: String, to value: Int) throws {
        let command = "echo \(value) >/proc/sys/net/\(setting)"
        try Self.run(["/sbin/ip", "netns", "exec", name, "/bin/sh", "-c", command])
    }
}

/// Makes two network namespaces, a host and a router, for the time of `body`.
package nonisolated(nonsending) func withNetworkNamespaces<Result>(
    _ body: nonisolated(nonsending) (_ host: NetworkNamespace, _ router: NetworkNamespace) async throws -> Result
) async throws -> Result {
    let host = try NetworkNamespace.make()
    defer { host.remove() }
    let router = try NetworkNamespace.make()
    defer { router.remove() }
    return try await body(host, router)
}

extension NetworkNamespace {
    /// Whether tests can have namespaces. True under `CI=true` in any case, so that they fail where they cannot run.
    package static let arePermitted: Bool = {
        if getenv("CI").map({ String(cString: $0) }) == "true" { return true }
        guard let namespace = try? make() else { return false }
        namespace.remove()
        return true
    }()

    /// What a skipped test says.
    package static let requirement = "network namespaces need root (CAP_SYS_ADMIN, CAP_NET_ADMIN) and iproute2"

    /// A program that ended with another status than 0, or could not be run.
    package struct CommandFailure: Error, CustomStringConvertible {
        package let description: String
    }

    fileprivate static func make() throws -> Self {
        let random = UInt32.random(in: 0 ... .max)
        let namespace = Self(name: "uplink-test-\(getpid())-\(String(random, radix: 16))")
        do { try run(["/sbin/ip", "netns", "add", namespace.name]) } catch {
            throw CommandFailure(description: "\(requirement): \(error)")
        }
        return namespace
    }

    /// Takes the namespace's interfaces with it.
    fileprivate func remove() { try? Self.run(["/sbin/ip", "netns", "del", name]) }

    private static func run(_ arguments: [String]) throws {
        var argv = arguments.map { strdup($0) } + [nil]
        defer { for argument in argv { free(argument) } }
        var pid = pid_t()
        var status = posix_spawn(&pid, arguments[0], nil, nil, &argv, environ)
        if status == 0 {
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        }
        guard status == 0 else {
            throw CommandFailure(description: "\(arguments.joined(separator: " ")): status \(status)")
        }
    }

    private static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "we") else { throw CommandFailure(description: "\(path) cannot be written") }
        let status = fputs(text, file)
        guard fclose(file) == 0, status >= 0 else { throw CommandFailure(description: "\(path) cannot be written") }
    }
}
