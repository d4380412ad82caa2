// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkMonitor

/// Bytes that claim to be a datagram of netlink: whatever they are, the parser ends, reads nothing that is not there,
/// and what comes of it is a path that keeps its own rules.
enum MessageFuzz {
    /// Takes one input.
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        var replay = NetlinkReplay()
        replay.take(bytes.bytes)
        let path = replay.path
        try expect(path.isSatisfied == (path.ipv4.isAvailable || path.ipv6.isAvailable), "status", path)
        try expect(path.isSatisfied == (path.unsatisfiedReason == nil), "reason", path)
        try expect(path.isSatisfied == (path.scope == .global), "scope", path)
        for family in [path.ipv4, path.ipv6] {
            try expect(family.isAvailable == (family.unsatisfiedReason == nil), "reason of a family", path)
            try expect(!family.isAvailable || family.source != nil, "source", path)
        }
        try expect(!path.json.utf8.contains { $0 < 0x20 }, "JSON", path)
        // Every message is the full state of what it is about: a table that hears all of it twice is the same.
        var again = NetlinkReplay()
        again.take(bytes.bytes)
        try expect(again.path == path && again.events == replay.events, "determinism", path)
    }

    private static func expect(_ isSo: Bool, _ rule: String, _ path: NetworkPath) throws(Fault) {
        if !isSo { throw Fault(description: "\(rule): \(path.json)") }
    }
}
