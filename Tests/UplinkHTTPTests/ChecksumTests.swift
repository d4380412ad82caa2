// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing
import UplinkCore

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct ChecksumTests {
    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private func digest(_ bytes: [UInt8]) -> String {
        var checksum = SHA256()
        checksum.update(bytes)
        return hexadecimal(checksum.finish())
    }

    /// FIPS 180-4's examples and NIST's test vectors (SHA256ShortMsg, SHA256LongMsg).
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func nistsVectorsComeOut(_ text: String, _ expected: String) { #expect(digest(Array(text.utf8)) == expected) }

    @Test func aMillionLettersComeOut() {
        let expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(digest([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)) == expected)
    }

    @Test func piecesMakeNoDifference() {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for count in [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 300] {
            let whole = digest(Array(bytes[..<count]))
            for size in [1, 3, 63, 64, 65, 128] {
                var checksum = SHA256()
                for start in stride(from: 0, to: count, by: size) {
                    checksum.update(Array(bytes[start..<min(start + size, count)]))
                }
                #expect(hexadecimal(checksum.finish()) == whole, "\(count) bytes in pieces of \(size)")
            }
        }
    }

    /// Against the system's own program, where lengths meet the padding in every way.
    @Test(.enabled(if: Spawn.has("sha256sum"))) func theSystemsProgramAgrees() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for count in [0, 1, 54, 55, 56, 63, 64, 65, 1000, 131_073] {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
            try directory.write("file", bytes)
            try directory.write("output", [])
            let status = try Spawn.run(["sha256sum", directory.path.appending("file").string], in: directory.path)
            #expect(status == 0)
            let output = String(decoding: try directory.read("output"), as: UTF8.self)
            #expect(output.hasPrefix(digest(bytes)), "\(count) bytes")
        }
    }

    // MARK: Bodies

    /// What sum and order make, as an example of a checksum of one's own.
    private struct Sum: HTTPChecksum {
        var sum: UInt8 = 0
        mutating func update(_ bytes: UnsafeRawBufferPointer) { for byte in bytes { sum = sum &* 3 &+ byte } }
        mutating func finish() -> [UInt8] { [sum] }
    }

    private func body(_ pieces: [UInt8]...) -> HTTPBody {
        let rest = Locked(pieces)
        return HTTPBody { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    @Test func theDigestIsThereAtTheEnd() async throws {
        let checked = body([0x61], [0x62, 0x63]).checksummed(with: SHA256())
        #expect(checked.digest == nil)
        #expect(try await checked.body.collect(upTo: 3) == Array("abc".utf8))
        #expect(checked.digest.map(hexadecimal)?.hasPrefix("ba7816bf") == true)
    }

    @Test func checksumsOfOnesOwnWork() async throws {
        let checked = body([1], [2, 3]).checksummed(with: Sum(), expecting: [18])
        #expect(try await checked.body.collect(upTo: 3) == [1, 2, 3])
        #expect(checked.digest == [18])
    }

    @Test func theOriginalIsTaken() async throws {
        let original = body([1])
        let checked = original.checksummed(with: Sum())
        let error = await #expect(throws: HTTPClientError.self) { try await original.collect(upTo: 9) }
        #expect(error?.code == .bodyAlreadyUsed)
        #expect(try await checked.body.collect(upTo: 9) == [1])
        let again = await #expect(throws: HTTPClientError.self) {
            try await original.checksummed(with: Sum()).body.collect(upTo: 9)
        }
        #expect(again?.code == .bodyAlreadyUsed)
    }

    @Test func aWrongDigestLeavesNoFile() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let target = directory.path.appending("file")
        let error = await #expect(throws: HTTPClientError.self) {
            try await body([1], [2]).checksummed(with: SHA256(), expecting: [UInt8](repeating: 0, count: 32)).body
                .write(to: target)
        }
        #expect(error?.code == .checksumMismatch)
        #expect(directory.names.isEmpty)
        let checked = body([1], [2]).checksummed(with: Sum(), expecting: [5])
        #expect(try await checked.body.write(to: target) == 2)
        #expect(directory.names == ["file"])
    }
}
