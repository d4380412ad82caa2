// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UplinkCore
import UplinkHTTP

/// A partial file, beside its target, and its record. Its calls block; they are made off the loop, one at a time.
///
/// The record is true before a byte that depends on it is written, and no byte is ever there together with the record
/// of another version. That holds even after a power cut, when names and contents may have reached the disk in any
/// order.
final class PartialFile: Sendable {
    struct State {
        var size: Int64 = 0
        var version: ResourceVersion?
        var digest: (any HTTPChecksum)?
        /// How many bytes are certainly on the disk, as the record says.
        var synchronised: Int64 = 0
        /// Whether there is a record on the disk for these bytes.
        var hasRecord = false
        /// Whether bytes could not be synchronised. The system reports that only once: the next call succeeds, although
        /// what was lost is not there (fsync(2)).
        var hasLost = false
        /// Whether this run has taken over, or thrown away, what an earlier one left.
        var isTouched = false
        var isOpen = true
    }

    let directory: TargetDirectory
    let descriptor: CInt
    /// See `HTTPFields.wording(for:)`.
    let asked: String
    private let checksum: DownloadChecksum?
    private let permissions: FilePermissions
    let boot: String
    private let flush: @Sendable (CInt) -> CInt
    let state = Locked(State())

    /// The number of bytes after which they are flushed to the disk, so that a power cut does not cost more.
    private static let checkpoint: Int64 = 256 << 20

    /// Opens what an earlier run left, or creates a new file, for exclusive use.
    ///
    /// - Parameter flush: Flushes a descriptor's bytes to the disk, as fsync(2) does.
    init(
        for target: FilePath, askedFor asked: String, options: DownloadOptions,
        flush: @escaping @Sendable (CInt) -> CInt = { fsync($0) }
    ) throws(DownloadError) {
        self.flush = flush
        directory = try TargetDirectory(of: target)
        do throws(DownloadError) {
            try directory.checkTarget(replacing: options.replacesExisting)
        } catch {
            if error.code == .targetExists { PartialLock.removeLeftovers(in: directory) }
            throw error
        }
        descriptor = try PartialLock.open(in: directory, keeping: options.resumes)
        (self.asked, checksum, boot) = (asked, options.checksum, PartialRecord.bootIdentifier())
        permissions = options.permissions
        // Another program may have created the target between the check and the lock.
        do throws(DownloadError) {
            try directory.checkTarget(replacing: options.replacesExisting)
        } catch {
            if (try? status().st_size) == 0 { directory.removePartial() }
            throw error
        }
    }

    deinit { if state.withLock({ $0.isOpen }) { PartialLock.release(descriptor) } }

    /// How many bytes are there.
    var size: Int64 { state.withLock { $0.size } }

    // MARK: What an earlier run has left

    /// The version of what an earlier run left, or this one leaves, and how many bytes of it can be relied upon.
    func found() -> (version: ResourceVersion, bytes: Int64)? {
        guard let record = readRecord(), record.isOf(asked), let status = try? status(), PartialLock.isOurs(status),
            record.file == status.st_ino
        else { return nil }
        return (record.version, record.reliableBytes(of: Int64(status.st_size), boot: boot))
    }

    /// Takes over what an earlier run left.
    func adopt(_ version: ResourceVersion, bytes: Int64) throws(DownloadError) {
        let record = readRecord()
        let synchronised = min(bytes, record?.synchronised ?? 0)
        state.withLock { $0.isTouched = true }
        try truncate(to: bytes)
        state.withLock { state in
            (state.version, state.size, state.synchronised) = (version, bytes, synchronised)
            state.hasRecord = true
            state.digest = checksum?.algorithm()
        }
        // From here on the file's length counts again if this process is killed. On a full disk there is no room for a
        // new record, but the old one is also true.
        if record?.boot != boot { try? writeRecord(synchronised: synchronised) }
    }

    /// Reads bytes that are there already into the digest. Returns how many, which is zero when there is no digest to
    /// compute.
    func digest(from offset: Int64, upTo count: Int) throws(DownloadError) -> Int {
        guard let old = state.withLock({ $0.digest }), offset < size else { return 0 }
        var digest = old
        let wanted = min(count, Int(size - offset))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(wanted, 1 << 20), alignment: 16)
        defer { buffer.deallocate() }
        var done = 0
        while done < wanted {
            let got = pread(
                descriptor, buffer.baseAddress, min(buffer.count, wanted - done), off_t(offset) + off_t(done))
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw failure("reading", got < 0 ? errno : EIO) }
            digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<got]))
            done += got
        }
        state.withLock { [digest] in $0.digest = digest }
        return done
    }

    // MARK: Writing

    /// Throws away what is there, and records what will come.
    func begin(_ version: ResourceVersion) throws(DownloadError) {
        try empty(for: version)
        try writeRecord(synchronised: 0)
        directory.synchronise()
    }

    /// Throws away what cannot be right, so that no later run takes it over even if this process is killed. What an
    /// earlier run left, and this one has not taken over, stays.
    func forget() throws(DownloadError) {
        if state.withLock({ $0.isTouched && $0.version != nil }) { try empty(for: nil) }
    }

    private func empty(for version: ResourceVersion?) throws(DownloadError) {
        try checkName()
        state.withLock { $0.isTouched = true }
        // The old record must be gone, also on the disk, before the first new byte.
        if unlinkat(directory.descriptor, directory.names.record, 0) == 0 {
            directory.synchronise()
        } else if errno != ENOENT {
            throw directory.failure("removing", directory.names.record, errno)
        }
        // ext4 flushes a file that was truncated to nothing when it is closed, so that is not done without need.
        if try status().st_size > 0 { try truncate(to: 0) }
        let digest = version == nil ? nil : checksum?.algorithm()
        state.withLock { state in
            (state.version, state.size, state.synchronised) = (version, 0, 0)
            (state.hasRecord, state.digest) = (false, digest)
        }
    }

    /// Goes on with what is there; the length of the version may have become known.
    ///
    /// - Parameter offset: The offset of the next byte, which is the end of what is there.
    func goOn(_ version: ResourceVersion, at offset: Int64) throws(DownloadError) {
        let actual = Int64(try status().st_size)
        guard size == offset, actual == offset else {
            disown()
            throw DownloadError(
                .fileFailed,
                message:
                    "the file in the making of `\(directory.path)` has \(actual) bytes and not \(offset); somebody "
                    + "else has changed it, so remove it and download again")
        }
        let isNews = state.withLock { state in
            defer { state.version = version }
            return state.version != version
        }
        if isNews { try writeRecord(synchronised: state.withLock { $0.synchronised }) }
    }

    func append(_ chunk: HTTPBody.Chunk) throws(DownloadError) {
        var (offset, digest) = state.withLock { ($0.size, $0.digest) }
        // If somebody has shortened the file, this would leave a hole, and the length would be right again.
        guard Int64(try status().st_size) == offset else {
            disown()
            throw meddled
        }
        try chunk.withUnsafeBytes { (bytes) throws(DownloadError) in
            var rest = bytes
            defer { state.withLock { [offset, digest] in ($0.size, $0.digest) = (offset, digest) } }
            while !rest.isEmpty {
                let written = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset))
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw failure("writing", written < 0 ? errno : EIO) }
                digest?.update(UnsafeRawBufferPointer(rebasing: rest[..<written]))
                offset += Int64(written)
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
        if offset - state.withLock({ $0.synchronised }) >= Self.checkpoint { try noteProgress() }
    }

    // MARK: The end

    /// Flushes all bytes to the disk, and returns their digest.
    func complete() throws(DownloadError) -> [UInt8]? {
        try synchronise()
        return state.withLock { state in
            var digest = state.digest
            return digest?.finish()
        }
    }

    /// Gives the file the target's name, and releases it.
    func giveName(replacing: Bool) throws(DownloadError) {
        // The file is renamed by its name, and a program that removed it meanwhile may have put another one there.
        try checkName()
        guard Int64(try status().st_size) == size else {
            disown()
            throw meddled
        }
        do throws(DownloadError) {
            if permissions != .ownerReadWrite { try setMode(permissions) }
            directory.remove(directory.names.newRecord)
            try directory.name(replacing: replacing)
        } catch {
            try? setMode(.ownerReadWrite)  // otherwise a later run would not take it over
            throw error
        }
        removeRecord()  // by now it may be that of the next download to the same target
        directory.synchronise()
        close()
    }

    /// Releases the file, and keeps what is there for a later run, or nothing. Returns how many bytes are kept.
    ///
    /// - Parameter isHurried: Whether not to wait for the disk. That loses nothing except in a power cut, and then what
    ///   has come since the last checkpoint.
    func abandon(keeping: Bool, isHurried: Bool = false) -> Int64 {
        defer { close() }
        guard isNamed else {
            // What has the name now belongs to another program.
            removeRecord()
            return 0
        }
        guard state.withLock({ $0.isTouched }) else {
            // This run cannot tell whether what an earlier one left is of use.
            if (try? status().st_size) == 0 { directory.removePartial() }
            return found()?.bytes ?? 0
        }
        // On a file system without modes, such as vfat, a later run takes over nothing (``PartialLock/isOurs(_:)``).
        if keeping, let status = try? status(), PartialLock.isOurs(status) {
            // On a full disk there is no room for a new record; the old one is true as well.
            if !isHurried { try? noteProgress() }
            if let kept = try? reliable() { return kept }
        }
        directory.removePartial()
        return 0
    }

    private func close() {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if wasOpen { PartialLock.release(descriptor) }
    }

    /// Cuts off what is not certain. Returns how much the next run will find; nil if that is nothing.
    private func reliable() throws(DownloadError) -> Int64? {
        let state = state.withLock { $0 }
        guard state.hasRecord else { return nil }
        if state.hasLost {
            guard state.synchronised > 0 else { return nil }
            try truncate(to: state.synchronised)
        }
        guard let bytes = found()?.bytes, bytes > 0 else { return nil }
        return bytes
    }

    func synchronise() throws(DownloadError) {
        guard !state.withLock({ $0.hasLost }) else { throw failure("writing", EIO) }
        guard flush(descriptor) == 0 else {
            let number = errno
            state.withLock { $0.hasLost = true }
            throw failure("writing", number)
        }
    }

    /// Whether the name still leads to this file.
    private var isNamed: Bool {
        guard let mine = try? status() else { return false }
        var named = stat()
        return fstatat(directory.descriptor, directory.names.partial, &named, AT_SYMLINK_NOFOLLOW) == 0
            && named.st_dev == mine.st_dev && named.st_ino == mine.st_ino
    }

    /// Checks that the name still leads to this file, because what follows is done by name.
    func checkName() throws(DownloadError) {
        guard isNamed else {
            disown()
            throw meddled
        }
    }

    private var meddled: DownloadError {
        DownloadError(
            .fileFailed,
            message: "somebody else has removed, replaced or changed the file in the making of "
                + "`\(directory.path)`; download again, and leave it alone")
    }

    func inode() throws(DownloadError) -> UInt64 { try UInt64(status().st_ino) }

    /// Makes the file useless to later runs.
    private func disown() {
        removeRecord()
        state.withLock { ($0.version, $0.hasRecord) = (nil, false) }
    }

    private func setMode(_ permissions: FilePermissions) throws(DownloadError) {
        guard fchmod(descriptor, permissions.rawValue) == 0 else { throw failure("setting the mode of", errno) }
    }

    private func truncate(to size: Int64) throws(DownloadError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw failure("shortening", errno) }
    }

    private func status() throws(DownloadError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("looking at", errno) }
        return status
    }

    private func failure(_ activity: String, _ number: CInt) -> DownloadError {
        .file("\(activity) the file in the making of `\(directory.path)`", number)
    }
}
