// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// This program's words as others see them in the list of processes (ps(1)).
enum ProcessList {
    /// Overwrites the passwords of users and proxies, as curl(1) does. `CommandLine` has copies of the words.
    static func hideSecrets() {
        guard let (start, count) = place,
            let memory = try? FileDescriptor.open("/proc/self/mem", .readWrite, options: .closeOnExec)
        else { return }
        defer { try? memory.close() }
        var words = [UInt8](repeating: 0, count: count)
        let length = try? words.withUnsafeMutableBytes { try memory.read(fromAbsoluteOffset: start, into: $0) }
        guard length == count else { return }
        for secret in secrets(in: words) {
            let blanks = [UInt8](repeating: UInt8(ascii: " "), count: secret.count)
            _ = try? memory.writeAll(toAbsoluteOffset: start + Int64(secret.lowerBound), blanks)
        }
    }

    /// Where values with a password are among words that each end in a NUL.
    static func secrets(in words: [UInt8]) -> [Range<Int>] {
        var (found, isAwaited) = ([Range<Int>](), false)
        for word in words.split(separator: 0, omittingEmptySubsequences: false) {
            // What looks like the end of an option may be the end of another one's value: `-oindex -u name:password`.
            let value = startOfValue(in: word)
            guard let start = isAwaited ? word.startIndex : value else { continue }
            isAwaited = value == word.endIndex
            if word[start...].contains(UInt8(ascii: ":")) { found.append(start..<word.endIndex) }
        }
        return found
    }

    /// Where the value of `--user` or `--proxy` begins in a word; its end, if it is the next word.
    private static func startOfValue(in word: ArraySlice<UInt8>) -> Int? {
        for option in ["--user", "--proxy"] where word.starts(with: option.utf8) {
            let end = word.startIndex + option.utf8.count
            if end == word.endIndex { return end }
            return word[end] == UInt8(ascii: "=") ? end + 1 : nil
        }
        guard word.first == UInt8(ascii: "-"), word.dropFirst().first != UInt8(ascii: "-") else { return nil }
        return word.firstIndex { $0 == UInt8(ascii: "u") || $0 == UInt8(ascii: "x") }.map { $0 + 1 }
    }

    /// Where the words are in this process's memory (proc(5), `arg_start` and `arg_end`).
    private static var place: (start: Int64, count: Int)? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        guard let file = try? FileDescriptor.open("/proc/self/stat", .readOnly, options: .closeOnExec) else {
            return nil
        }
        defer { try? file.close() }
        guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0) }),
            let name = bytes[..<count].lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        // The first one behind the program's name is the third.
        let fields = String(decoding: bytes[name..<count], as: UTF8.self).split(separator: " ")
        guard fields.count > 47, let start = Int64(fields[46]), let end = Int64(fields[47]), start > 0,
            (1...(1 << 22)).contains(end - start)
        else { return nil }
        return (start, Int(end - start))
    }
}
