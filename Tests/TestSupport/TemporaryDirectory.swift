// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// A directory of a test's own.
package struct TemporaryDirectory: Sendable {
    package let path: FilePath

    package init(in parent: String = "/tmp") throws {
        var template = Array("\(parent)/uplink-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SetupFailure(activity: "mkdtemp", errno: errno) }
        path = FilePath(String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// What is in it.
    package var names: [String] {
        guard let directory = opendir(path.string) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// What may be done with a file, by its mode; nil where there is none.
    package func permissions(of name: String) -> FilePermissions? {
        var status = stat()
        guard stat(path.appending(name).string, &status) == 0 else { return nil }
        return FilePermissions(rawValue: status.st_mode & 0o7777)
    }

    /// Writes a file.
    package func write(_ name: String, _ bytes: [UInt8]) throws {
        let descriptor = try FileDescriptor.open(
            path.appending(name), .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
        try descriptor.closeAfter { _ = try descriptor.writeAll(bytes) }
    }

    /// Reads a file.
    package func read(_ name: String) throws -> [UInt8] { try Self.read(path.appending(name)) }

    /// Reads any file.
    package static func read(_ file: FilePath) throws -> [UInt8] {
        let descriptor = try FileDescriptor.open(file, .readOnly)
        return try descriptor.closeAfter {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
                guard count > 0 else { return bytes }
                bytes += buffer[..<count]
            }
        }
    }

    /// Removes it with its files; it has no directories in it but empty ones.
    package func remove() {
        for name in names where unlink(path.appending(name).string) != 0 { rmdir(path.appending(name).string) }
        rmdir(path.string)
    }
}
