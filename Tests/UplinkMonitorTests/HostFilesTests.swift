// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import UplinkMonitor

/// What is read of the kernel's tables, and what is too much.
@Suite(.timeLimit(.minutes(1)))
struct HostFilesTests {
    @Test func aTableThatIsTooLargeCannotBeHad() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("table", [UInt8](repeating: UInt8(ascii: "x"), count: 200_000))
        let descriptor = open(directory.path.appending("table").string, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        #expect(HostFiles.text(of: descriptor, atMost: 200_000)?.utf8.count == 200_000)
        #expect(HostFiles.text(of: descriptor, atMost: 199_999) == nil)
    }

    @Test func addressesThatAreTooManyCannotBeHad() throws {
        let files = HostFiles()
        let all = try #require(files.ipv4Addresses(atMost: HostFiles.maximumAddresses))
        #expect(files.ipv4Addresses(atMost: all.count)?.count == all.count)
        guard !all.isEmpty else { return }  // a namespace in which nothing is up
        #expect(files.ipv4Addresses(atMost: all.count - 1) == nil)
    }
}
