// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// What happens to names in a directory, each event in its order, as the kernel tells it (inotify(7)). For one thread.
package final class DirectoryRecord {
    /// What can happen to a name.
    package enum Event: Hashable, Sendable {
        /// A file has got the name.
        case appeared(String)
        /// The mode, or another attribute, of the file of that name is another.
        case changed(String)
        /// Nothing has the name any longer.
        case gone(String)
    }

    private let descriptor: CInt

    /// Begins to watch.
    package init(_ directory: FilePath) throws {
        descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        let mask = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE | IN_MOVED_FROM
        guard descriptor >= 0, inotify_add_watch(descriptor, directory.string, UInt32(mask)) >= 0 else {
            throw SetupFailure(activity: "watching \(directory)", errno: errno)
        }
    }

    deinit { close(descriptor) }

    /// What has happened since the last time that it was asked for.
    package func events() -> [Event] {
        var (events, buffer) = ([Event](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return events }
            buffer[..<count].withUnsafeBytes { bytes in
                var place = 0
                while place < bytes.count {
                    let event = bytes.loadUnaligned(fromByteOffset: place, as: inotify_event.self)
                    let start = place + MemoryLayout<inotify_event>.size
                    place = start + Int(event.len)
                    let name = String(decoding: bytes[start..<place].prefix { $0 != 0 }, as: UTF8.self)
                    if name.isEmpty { continue }  // the directory itself
                    switch event.mask {
                    case let mask where mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0: events.append(.appeared(name))
                    case let mask where mask & UInt32(IN_ATTRIB) != 0: events.append(.changed(name))
                    default: events.append(.gone(name))
                    }
                }
            }
        }
    }
}
