// SPDX-License-Identifier: Apache-2.0
#if Store
import SystemPackage
import TestSupport
import Testing

/// Small file systems, in mount namespaces of their own.
@Suite(.timeLimit(.minutes(1)), .needsNetworkNamespaces)
struct FullDiskTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// What the program says that opens or fills a database on a file system with these limits.
    private func run(_ mode: String, _ limits: String) async throws -> RunningProgram {
        try await Victim.run(
            mode, directory.path.appending("db"), after: "mount -t tmpfs -o \(limits) none \(directory.path)")
    }

    @Test func aFullDiskIsAnErrorAndWhatIsThereStays() async throws {
        defer { directory.remove() }
        let program = try await run("fill", "size=512k")
        #expect(program.output == "diskFull\ntrue true true\n", "\(program.errors)")
    }

    /// It would stay full, in each later process too, although the database is small.
    @Test func aDiskThatTheLogFillsHasRoom() async throws {
        defer { directory.remove() }
        let program = try await run("rewrite", "size=640k")
        #expect(program.output == "200\n", "\(program.errors)")
    }

    /// The directory takes one inode; the database needs one, its log and its index another each.
    @Test(arguments: [1, 2, 3]) func aDiskWithoutInodesIsFull(inodes: Int) async throws {
        defer { directory.remove() }
        let program = try await run("open", "nr_inodes=\(inodes)")
        #expect(program.output == "diskFull\n", "\(program.errors)")
    }
}
#endif
