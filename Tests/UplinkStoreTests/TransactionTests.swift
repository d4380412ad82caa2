// SPDX-License-Identifier: Apache-2.0
#if Store
import SystemPackage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct TransactionTests {
    /// GRDB would take the second commit for the first one's, which SQLite has rolled back by itself.
    @Test(.needsNetworkNamespaces) func aCommitThatFailsIsNotTakenForTheNext() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let program = try await Victim.run(
            "overfill", directory.path.appending("db"), after: "mount -t tmpfs -o size=1m none \(directory.path)")
        #expect(program.output == "0 rolled back\n0 failed\n1 committed\n", "\(program.errors)")
    }
}
#endif
