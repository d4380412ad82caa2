// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import UplinkHTTP

/// The names of the files beside a target. They are bytes, because a name need not be UTF-8.
struct PartialNames: Sendable, Hashable {
    /// The target's directory; `.` if the path has none.
    let directory: FilePath
    /// The target's name, as a C string.
    let target: [CChar]
    /// The name of the partial file.
    let partial: [CChar]
    /// The name of its record.
    let record: [CChar]
    /// The name of the record while it is being written.
    let newRecord: [CChar]

    /// Creates the names; nil if the path does not end in a name.
    init?(_ path: FilePath) {
        guard let last = path.lastComponent, last.kind == .regular else { return nil }
        let parent = path.removingLastComponent()
        directory = parent.isEmpty ? "." : parent
        let name = last.withPlatformString { start in
            var bytes: [UInt8] = []
            var next = start
            while next.pointee != 0 {
                bytes.append(UInt8(bitPattern: next.pointee))
                next += 1
            }
            return bytes
        }
        let stem = Self.stem(of: name)
        func text(_ bytes: [UInt8], _ end: String) -> [CChar] { (bytes + end.utf8 + [0]).map { CChar(bitPattern: $0) } }
        target = text(name, "")
        partial = text(stem, ".uplink-part")
        record = text(stem, ".uplink-record")
        newRecord = text(stem, ".uplink-record-new")
    }

    /// A dot and the name; if that would become too long (NAME_MAX), the beginning of the name and a digest of all of
    /// it. It is not cut within a character: some file systems only take whole ones.
    private static func stem(of name: [UInt8]) -> [UInt8] {
        guard name.count > 255 - 1 - ".uplink-record-new".utf8.count else { return [0x2E] + name }
        var checksum = SHA256()
        checksum.update(name)
        var cut = 180
        while cut > 177, name[cut] & 0xC0 == 0x80 { cut -= 1 }
        return [0x2E] + name.prefix(cut) + "~\(Hexadecimal.text(checksum.finish().prefix(8)))".utf8
    }
}
