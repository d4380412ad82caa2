// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UplinkCore

// The record of a partial file: what of it may be relied upon later.
extension PartialFile {
    /// Flushes all bytes so far to the disk, and records that.
    func noteProgress() throws(DownloadError) {
        try synchronise()
        try writeRecord(synchronised: size)
    }

    /// Writes the record in one step: there is the old one or the new one. There is none if it would be of no use.
    func writeRecord(synchronised: Int64) throws(DownloadError) {
        try checkName()
        guard let version = state.withLock({ $0.version }),
            let record = PartialRecord(
                of: version, askedFor: asked, synchronised: synchronised, boot: boot, file: try inode())
        else { return state.withLock { $0.synchronised = synchronised } }
        let (folder, name) = (directory.descriptor, directory.names.newRecord)
        unlinkat(folder, name, 0)
        let file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw directory.failure("creating", name, errno) }
        var number: CInt = 0
        do {
            try FileDescriptor(rawValue: file).writeAll(record.text.utf8)
            if fsync(file) != 0 { number = errno }
        } catch {
            number = (error as? Errno)?.rawValue ?? EIO
        }
        Glibc.close(file)
        if number == 0, renameat(folder, name, folder, directory.names.record) != 0 { number = errno }
        guard number == 0 else {
            unlinkat(folder, name, 0)
            throw .file("writing a file beside `\(directory.path)`", number)
        }
        state.withLock { ($0.hasRecord, $0.synchronised) = (true, synchronised) }
    }

    /// Removes the record, unless it is about a file that another program has put in this one's place.
    func removeRecord() {
        if let record = readRecord(), record.file != (try? inode()) { return }
        directory.remove(directory.names.record)
    }

    func readRecord() -> PartialRecord? {
        let file = openat(
            directory.descriptor, directory.names.record, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { Glibc.close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, PartialLock.isOurs(status), status.st_size <= PartialRecord.maximumBytes else {
            return nil
        }
        let bytes = PartialRecord.contents(of: file)
        return PartialRecord(text: String(decoding: bytes, as: UTF8.self))
    }
}

extension PartialRecord {
    /// The contents of a file, up to the length that a record may have.
    static func contents(of file: CInt) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= maximumBytes {
            let piece = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                count = max(0, read(file, buffer.baseAddress, buffer.count))
            }
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    /// The identifier of the system's current boot (random(4)).
    static func bootIdentifier() -> String {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return unknownBoot }
        defer { Glibc.close(file) }
        let text = String(decoding: contents(of: file).prefix { $0 > 0x20 }, as: UTF8.self)
        return text.isEmpty ? unknownBoot : text
    }
}
