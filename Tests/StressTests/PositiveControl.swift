// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// Shows that a race and a forgotten continuation would be reported, without which a clean run proves nothing.
@Suite(.timeLimit(.minutes(1)))
struct PositiveControl {
    @Test(.enabled(if: Timing.isInstrumented, "needs swift test --sanitize=thread"))
    func aDeliberateRaceIsReported() async throws {
        let program = try await Self.run("racy")
        #expect(program.errors.contains("WARNING: ThreadSanitizer: data race"))
        #expect(program.status != 0)
    }

    @Test func itsCorrectTwinIsClean() async throws {
        let program = try await Self.run("actor")
        #expect(program.output == "10000\n")
        #expect(program.errors == "")
        #expect(program.status == 0)
    }

    /// `scripts/test` looks for these words in what the tests, and the processes that they become, have said.
    @Test func aForgottenContinuationIsReported() async throws {
        let program = try await Self.run("forgetful")
        #expect(program.errors.contains("SWIFT TASK CONTINUATION MISUSE"))
    }

    private static func run(_ mode: String) async throws -> RunningProgram {
        let path = BuiltProgram.path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/RacyCounter"
        // Without the options of this run, which may send reports elsewhere.
        let program = try RunningProgram([path, mode], environment: ["TSAN_OPTIONS": ""])
        try await program.wait()
        return program
    }
}
