// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkEventLoop

/// An inotify(7) descriptor that becomes readable when a file is written or replaced, even if it is a link.
///
/// The directories along the name are watched, because the file is replaced more often than written, and any part of
/// the name may be a link; and so is the file itself, because a container may have it mounted over another one. If a
/// directory does not exist, the nearest existing one above it is watched until it does.
final class FileChanges: Sendable {
    private static let inDirectory = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
    private static let inFile = UInt32(IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF)
    /// For a directory further up, which may be moved with all that is in it. What else it is watched for stays.
    private static let aboveDirectory = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_MASK_ADD)
    /// How often the name is followed if it leads elsewhere each time.
    private static let maximumOfLooks = 3
    /// As many as the kernel follows (path_resolution(7)).
    private static let maximumOfLinks = 40

    let descriptor: CInt
    private let loop: EventLoop?
    /// The current watches, by inotify's numbers.
    private let watches = Locked<Set<CInt>>([])

    /// Returns nil if no descriptor is available; their number is limited per user.
    ///
    /// - Parameter loop: The loop that closing must not delay: closing waits for the kernel to remove the watches,
    ///   which takes milliseconds, on a busy machine tens of them.
    init?(on loop: EventLoop? = nil) {
        self.loop = loop
        descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        guard descriptor >= 0 else { return }
        guard let loop else {
            close(descriptor)
            return
        }
        loop.offLoop({ [descriptor] in close(descriptor) }) { [descriptor] result in
            if case .failure = result { close(descriptor) }  // the loop has ended
        }
    }

    /// Watches a file, wherever its name leads at this moment, and no longer where it led before. May block. May be
    /// called repeatedly, by one caller at a time.
    ///
    /// - Returns: The names that events about the file have.
    func watch(_ path: String) -> Set<String> {
        var names: Set<String> = []
        var wanted: Set<CInt> = []
        var steps = Self.steps(along: path)
        for _ in 0..<Self.maximumOfLooks {
            for step in steps {
                if let (name, watch) = watchDirectory(of: step) {
                    names.insert(name)
                    wanted.insert(watch)
                }
                for directory in Self.directories(above: step) {
                    wanted.insert(inotify_add_watch(descriptor, directory, Self.aboveDirectory))
                }
            }
            if let file = steps.last { wanted.insert(inotify_add_watch(descriptor, file, Self.inFile)) }
            let now = Self.steps(along: path)
            if now == steps { break }
            steps = now  // a link has changed before its directory was watched
        }
        let unwanted = watches.withLock { watches in
            defer { watches = wanted }
            return watches.subtracting(wanted)
        }
        // The kernel has already removed a watch whose file is gone; it cannot be removed again.
        for watch in unwanted where watch >= 0 { inotify_rm_watch(descriptor, watch) }
        return names
    }

    /// Reads the events; returns the names of what they are about, of which an empty one is a watched object itself.
    func takeNames() -> Set<String> {
        var names: Set<String> = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return names }
            buffer.withUnsafeBytes { bytes in
                let bytes = bytes.bytes
                names.formUnion(Self.names(in: bytes.extracting(0..<min(count, buffer.count))))
            }
        }
    }

    /// The names in a sequence of `struct inotify_event`; empty if an event is about the watched object itself. The end
    /// of a watch is left out: its cause has already been reported, or was our own doing.
    static func names(in events: RawSpan) -> [String] {
        var names: [String] = []
        var offset = 0
        while let length = events.integer(at: offset + 12, as: UInt32.self),
            let kind = events.integer(at: offset + 4, as: UInt32.self)
        {
            let start = offset + 16
            let end = min(start + Int(length), events.byteCount)
            guard start <= end else { break }
            let name = events.extracting(start..<end)
            if kind & UInt32(IN_IGNORED) == 0 { names.append(name.text) }
            offset = end
        }
        return names
    }

    /// Watches the directory of a file, or the nearest existing one above it.
    ///
    /// - Returns: The name that an event in it would have, and inotify's number, which is negative if it refuses.
    private func watchDirectory(of path: String) -> (name: String, watch: CInt)? {
        var parts = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        while let name = parts.popLast() {
            let directory = (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
            let watch = inotify_add_watch(descriptor, directory.isEmpty ? "." : directory, Self.inDirectory)
            if watch >= 0 || errno != ENOENT { return (name, watch) }
        }
        return nil
    }

    /// What a name leads through: each link on the way, by its own path, and at last the file.
    private static func steps(along path: String) -> [String] {
        var steps: [String] = []
        var path = path
        while steps.count <= maximumOfLinks {
            let (part, rest) = firstLink(in: path)
            steps.append(part)
            guard let target = target(of: part) else { break }
            path = rest.isEmpty ? target : "\(target)/\(rest)"
        }
        return steps
    }

    /// The directories above that of a file, without the root.
    private static func directories(above path: String) -> [String] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return parts.indices.map { parts[...$0].joined(separator: "/") }.filter { !$0.isEmpty }
    }

    /// The beginning of a path up to the first link on the way, and what comes after that; all of the path if no part
    /// of it is a link.
    private static func firstLink(in path: String) -> (part: String, rest: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        for end in parts.indices {
            let part = parts[...end].joined(separator: "/")
            if target(of: part) != nil { return (part, parts[(end + 1)...].joined(separator: "/")) }
        }
        return (path, "")
    }

    /// Returns the target of a symbolic link, or nil if the path is not one.
    private static func target(of path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let target = String(decoding: buffer.prefix(count), as: UTF8.self)
        if target.hasPrefix("/") { return target }
        let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return directory.isEmpty && !path.hasPrefix("/") ? target : directory + "/" + target
    }
}
