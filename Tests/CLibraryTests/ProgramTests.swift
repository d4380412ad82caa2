// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// C programs that check what the header promises, as they are and under valgrind.
///
/// They make network namespaces of their own. `scripts/check-c-library --sanitize=thread` puts them through
/// ThreadSanitizer, in a build of the library made for it.
@Suite(
    .timeLimit(.minutes(20)), .undisturbed, .serialized,  // the first one may have to build the library
    .needsNetworkNamespaces)
struct ProgramTests {
    /// A program and its argument.
    private static let programs = [
        ["misuse"], ["dispatching"], ["gets"], ["requests"], ["downloads"], ["shortage"], ["lifetimes", "50"],
        ["performs", "10000"],
    ]
    /// The same with fewer rounds where valgrind takes too long.
    private static let shorter = [
        ["misuse"], ["dispatching"], ["gets"], ["requests"], ["downloads"], ["lifetimes", "20"], ["performs", "2000"],
    ]

    /// Swift's enumerations with payloads make memcheck report reads of what is not initialised where nothing is wrong,
    /// so that is not asked for; what is lost, freed twice or out of bounds is.
    private static let valgrind = [
        "/usr/bin/valgrind", "-q", "--undef-value-errors=no", "--leak-check=full",
        "--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=33",
        "--vgdb=no",  // whose pipes a program that gives up root cannot remove
    ]

    private func source(_ name: String) -> String { "Tests/CLibraryTests/programs/\(name).c" }

    @Test(arguments: programs)
    func whatTheHeaderPromisesHolds(program: [String]) async throws {
        try await CLibrary.withProgram(source(program[0])) { path in
            let run = try await CLibrary.require(RunningProgram([path] + program.dropFirst()))
            #expect(run.errors.isEmpty)
            #expect(!run.output.isEmpty)
        }
    }

    @Test(arguments: shorter)
    func nothingIsLostOrTouchedAfterItsEnd(program: [String]) async throws {
        try await CLibrary.withProgram(source(program[0])) { path in
            let run = try await CLibrary.require(RunningProgram(Self.valgrind + [path] + program.dropFirst()))
            #expect(run.errors.isEmpty)
        }
    }

    @Test(arguments: [["-pie", "-fPIE"], ["-no-pie", "-fno-pie"]])
    func functionsHaveAddresses(positions: [String]) async throws {
        try await CLibrary.withProgram(source("addresses"), linking: positions) { path in
            let run = try await CLibrary.require(RunningProgram([path]))
            #expect(run.output == "called by their addresses\n")
        }
    }

    @Test func valgrindWouldFindAPathThatIsNotReleased() async throws {
        try await CLibrary.withProgram(source("leaky")) { path in
            let run = try RunningProgram(Self.valgrind + [path])
            #expect(try await run.wait(upTo: .seconds(120)) == 33)
            #expect(run.errors.contains("definitely lost"))
        }
    }
}
