// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import FuzzMonitor

/// The fuzzer's corpus, what the kernel said and what libFuzzer made of it, in the plain build.
@Suite(.timeLimit(.minutes(5)))
struct FuzzCorpusTests {
    @Test func everyInputOfTheCorpusIsTaken() throws {
        let inputs = try Corpus.messages.inputs
        #expect(inputs.count > 50)
        for input in inputs { try input.withUnsafeBytes { bytes in try MessageFuzz.run(bytes) } }
    }

    @Test func everyInputMayEndAnywhere() throws {
        for input in try Corpus.messages.inputs {
            for end in stride(from: 0, to: input.count, by: Timing.isInstrumented ? 16 : 4) {
                try input.prefix(end).withUnsafeBytes { bytes in try MessageFuzz.run(bytes) }
            }
        }
    }

    @Test func everyInputMayBeDamaged() throws {
        var random = SplitMix(state: 4)
        for input in try Corpus.messages.inputs where !input.isEmpty {
            for _ in 0..<(Timing.isInstrumented ? 5 : 50) {
                var damaged = input
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: damaged.indices, using: &random)
                    damaged[place] =
                        [0, 1, 4, 0x7F, 0x80, 0xFF, damaged[place] &+ 1].randomElement(using: &random) ?? 0
                }
                try damaged.withUnsafeBytes { bytes in try MessageFuzz.run(bytes) }
            }
        }
    }
}

/// The files of `Tests/Fuzzing/Corpus`.
private enum Corpus: String {
    case messages

    var inputs: [[UInt8]] {
        get throws {
            let directory = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
            return try files(in: "\(directory)/Fuzzing/Corpus/\(rawValue)").map(contents)
        }
    }

    private func files(in directory: String) throws -> [String] {
        let stream = try #require(opendir(directory))
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append("\(directory)/\(name)") }
        }
        return names.sorted()
    }

    private func contents(of file: String) throws -> [UInt8] {
        let stream = try #require(fopen(file, "re"))
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return Array(bytes.prefix(fread(&bytes, 1, bytes.count, stream)))
    }
}
