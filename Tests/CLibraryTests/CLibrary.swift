// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport

/// The C library, built once for all tests by the script that builds it for everybody.
enum CLibrary {
    /// The root of the package.
    static let root = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()

    /// Where the library stands.
    private static var directory: FilePath { root.appending(".build-clib/c") }
    private static var headers: FilePath { root.appending("Sources/CUplink/include") }

    private static let build = Task {
        // In CI `scripts/test` has done it before, and this only sees that nothing is to do.
        let script = try RunningProgram([root.appending("scripts/build-c-library").string])
        try await require(script, upTo: .seconds(900))
    }

    /// What a program needs to be compiled and linked.
    private static let flags = [
        "-std=c99", "-D_GNU_SOURCE", "-pedantic", "-Wall", "-Wextra", "-Werror", "-g", "-O1", "-I\(headers)",
    ]

    /// Compiles a program of the package, for the time of `body`, which gets its path.
    static func withProgram<Result>(
        _ source: String, linking libraries: [String] = [], _ body: (_ path: String) async throws -> Result
    ) async throws -> Result {
        try await build.value
        let place = try TemporaryDirectory()
        defer { place.remove() }
        let program = place.path.appending("program").string
        let libraries = ["-L\(directory)", "-luplink", "-lpthread", "-Wl,-rpath,\(directory)"] + libraries
        let command = ["/usr/bin/cc"] + flags + [root.appending(source).string, "-o", program] + libraries
        try await require(RunningProgram(command), upTo: .seconds(120))
        return try await body(program)
    }

    /// Waits for a program's end and throws with what it wrote unless its status is 0.
    @discardableResult
    static func require(_ program: RunningProgram, upTo limit: Duration = .seconds(120)) async throws -> RunningProgram
    {
        let status = try await program.wait(upTo: limit)
        guard status == 0 else {
            throw Failure(description: "status \(status): \(program.output)\n\(program.errors)")
        }
        return program
    }

    /// A program that did not succeed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
