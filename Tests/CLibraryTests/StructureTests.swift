// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import Testing

@testable import UplinkC

/// A structure is taken from a program with an older header, and from one with a newer header that says nothing new.
@Suite(.timeLimit(.minutes(1)))
struct StructureTests {
    /// As of version 2 of some header: version 1 ended before `late`.
    private struct Grown: Equatable {
        var size = MemoryLayout<Grown>.size
        var early: UInt64 = 1
        var late: UInt64 = 2
    }

    private let first = 16

    private func read(_ value: Grown) throws(StatusError) -> Grown {
        var value = value
        return try Structure.read(&value, atLeast: first)
    }

    @Test func whatAnOlderHeaderDoesNotHaveIsZero() throws {
        #expect(try read(Grown(size: first)) == Grown(size: first, early: 1, late: 0))
    }

    @Test func allOfAKnownSizeIsTaken() throws {
        #expect(try read(Grown()) == Grown())
    }

    /// The working directory may be another by the time it is used.
    @Test func aPathIsTakenFromTheRootOn() throws {
        let directory = try #require(getcwd(nil, 0))
        defer { free(directory) }
        let here = FilePath(platformString: directory)
        #expect(Text.absolutePath("a//b/") == here.appending("a/b"))
        #expect(Text.absolutePath("/a/../b") == "/a/../b")
        #expect(Text.absolutePath("") == nil && Text.absolutePath(nil) == nil)
    }

    @Test(arguments: [0, 8, 15, 4097, -1]) func otherSizesAreRefused(size: Int) {
        #expect(throws: StatusError.self) { try read(Grown(size: size)) }
    }
}
