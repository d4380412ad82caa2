// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file's whole text, also of one without a size, as in /proc.
func readWhole(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    return readWhole(file)
}

func readWhole(_ file: UnsafeMutablePointer<FILE>) -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = fread(&chunk, 1, chunk.count, file)
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += chunk[..<count]
    }
}

/// Replaces a file's text.
func write(_ text: String, to path: String) throws(FileError) {
    guard let file = fopen(path, "w") else { throw FileError(path: path, errno: errno) }
    fputs(text, file)
    guard fclose(file) == 0 else { throw FileError(path: path, errno: errno) }
}

/// A file that cannot be written.
struct FileError: Error, CustomStringConvertible {
    let path: String
    let errno: CInt
    var description: String { "\(path): \(String(cString: strerror(errno)))" }
}

/// Says something on the standard error.
func complain(_ words: String) {
    _ = Array((words + "\n").utf8).withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
}
