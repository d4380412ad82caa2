// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
package import UplinkTesting

/// The program `uplink` that was built with the tests.
package enum BuiltProgram {
    /// Its path: beside the tests' own.
    package static let path = path(of: "uplink")

    /// The path of any program that was built with the tests.
    package static func path(of name: String) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let own = String(decoding: buffer.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return own.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/\(name)"
    }

    /// Runs it to its end with the words of a command line.
    ///
    /// - Parameter namespace: Where to run it; nil for the test's own network.
    package static func run(
        _ words: String, in namespace: NetworkNamespace? = nil, environment: [String: String] = [:]
    ) async throws -> RunningProgram {
        let program = try start(words, in: namespace, environment: environment)
        try await program.wait()
        return program
    }

    /// Starts it with the words of a command line.
    package static func start(
        _ words: String, in namespace: NetworkNamespace? = nil, environment: [String: String] = [:],
        terminal: TerminalDimensions? = nil
    ) throws -> RunningProgram {
        let command = [path] + words.split(separator: " ").map(String.init)
        return try RunningProgram(namespace?.entering(command) ?? command, environment: environment, terminal: terminal)
    }
}

extension BuiltProgram {
    /// Starts it where `socket(AF_NETLINK, …)` fails with this error number, as in a sandbox.
    package static func startWithoutNetlink(
        _ words: String, errno: CInt, in namespace: NetworkNamespace? = nil, environment: [String: String] = [:]
    ) async throws -> RunningProgram {
        // nsenter(1), because ip(8) needs netlink itself.
        let enter = namespace.map { ["/usr/bin/nsenter", "--net=\($0.path)"] } ?? []
        let command = enter + [path] + words.split(separator: " ").map(String.init)
        let outcome = Locked<Result<RunningProgram, any Error>?>(nil)
        detachThread {  // the filter stays with the thread, and with what it starts
            let started = Result {
                guard Sandbox.refuse(.netlinkSocket, with: errno) else { throw ProgramError("seccomp(2)") }
                return try RunningProgram(command, environment: environment)
            }
            outcome.withLock { $0 = started }
        }
        try await eventually("the program is started") { outcome.withLock { $0 != nil } }
        guard let program = try outcome.withLock({ $0 })?.get() else { throw Missing("program") }
        return program
    }
}
