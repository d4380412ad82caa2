// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage
import UplinkCore

/// The C library, built once for all tests by the script that builds it for everybody.
package enum CLibrary {
    /// The root of the package.
    package static let root =
        FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()

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
        "-D_GNU_SOURCE", "-pedantic", "-Wall", "-Wextra", "-Werror", "-g", "-O1", "-I\(headers)",
    ]

    /// What a program is compiled as.
    package enum Language: Sendable, CaseIterable {
        case c99, cPlusPlus11

        fileprivate var command: [String] {
            switch self {
            case .c99: ["/usr/bin/cc", "-std=c99"]
            case .cPlusPlus11: ["/usr/bin/g++", "-std=c++11", "-x", "c++"]
            }
        }
    }

    /// Compiles a program of the package, for the time of `body`, which gets its path.
    package static func withProgram<Result>(
        _ source: String, as language: Language = .c99, linking libraries: [String] = [],
        _ body: (_ path: String) async throws -> Result
    ) async throws -> Result {
        let place = try TemporaryDirectory()
        defer { place.remove() }
        let program = place.path.appending("program").string
        try await compile(source, as: language, to: program, linking: libraries)
        return try await body(program)
    }

    /// The example that watches, compiled once and kept beside the library.
    package static let watch = Task {
        let program = root.appending(".build-clib/watch").string
        try await compile("Examples/c/watch.c", to: "\(program).\(getpid())")
        rename("\(program).\(getpid())", program)
        return program
    }

    private static func compile(
        _ source: String, as language: Language = .c99, to program: String, linking libraries: [String] = []
    ) async throws {
        try await build.value
        let libraries = ["-L\(directory)", "-luplink", "-lpthread", "-Wl,-rpath,\(directory)"] + libraries
        let source = [root.appending(source).string, "-x", "none", "-o", program]
        try await require(RunningProgram(language.command + flags + source + libraries), upTo: .seconds(120))
    }

    /// Waits for a program's end and throws with what it wrote unless its status is 0.
    @discardableResult
    package static func require(_ program: RunningProgram, upTo limit: Duration = .seconds(120)) async throws
        -> RunningProgram
    {
        let status = try await program.wait(upTo: limit)
        guard status == 0 else {
            throw Failure(description: "status \(status): \(program.output)\n\(program.errors)")
        }
        return program
    }

    /// A program that did not succeed.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }
}
