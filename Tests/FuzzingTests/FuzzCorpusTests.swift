// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import Fuzzer

/// The fuzzer's corpora in the plain build: what kernels and servers say, what libFuzzer made of it, and every input
/// that once was a finding.
@Suite(.timeLimit(.minutes(5)))
struct FuzzCorpusTests {
    @Test(arguments: FuzzTarget.allCases) func everyInputOfTheCorpusIsTaken(target: FuzzTarget) throws {
        let inputs = try Corpus.inputs(of: target)
        #expect(inputs.count > 20)
        for input in inputs { try target.take(input) }
    }

    @Test(arguments: FuzzTarget.allCases) func everyInputMayEndAnywhere(target: FuzzTarget) throws {
        for input in try Corpus.inputs(of: target) {
            for end in stride(from: 0, to: input.count, by: max(1, input.count / 24)) {
                try target.take(Array(input.prefix(end)))
            }
        }
    }

    @Test(arguments: FuzzTarget.allCases) func everyInputMayBeDamaged(target: FuzzTarget) throws {
        var random = SeededGenerator(seed: 4)
        for input in try Corpus.inputs(of: target) where !input.isEmpty {
            for _ in 0..<10 {
                var damaged = input
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: damaged.indices, using: &random)
                    damaged[place] =
                        [0, 1, 4, 0x7F, 0x80, 0xFF, damaged[place] &+ 1].randomElement(using: &random) ?? 0
                }
                try target.take(damaged)
            }
        }
    }
}

extension FuzzTarget {
    fileprivate func take(_ input: [UInt8]) throws {
        try input.withUnsafeBytes { bytes in
            do throws(Fault) { try take(bytes) } catch {
                throw Fault(description: "\(rawValue): \(error); the input is \(input)")
            }
        }
    }
}

/// The files of `Tests/Fuzzing/Corpus`.
private enum Corpus {
    static func inputs(of target: FuzzTarget) throws -> [[UInt8]] {
        let directory = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
        return try files(in: "\(directory)/Fuzzing/Corpus/\(target.rawValue)").map(contents)
    }

    private static func files(in directory: String) throws -> [String] {
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

    private static func contents(of file: String) throws -> [UInt8] {
        let stream = try #require(fopen(file, "re"))
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return Array(bytes.prefix(fread(&bytes, 1, bytes.count, stream)))
    }
}
