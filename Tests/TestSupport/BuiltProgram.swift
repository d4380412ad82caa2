// SPDX-License-Identifier: Apache-2.0
import Glibc
package import UplinkTesting

/// The program `uplink` that was built with the tests.
package enum BuiltProgram {
    /// Its path: beside the tests' own.
    package static let path: String = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let own = String(decoding: buffer.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return own.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/uplink"
    }()

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
