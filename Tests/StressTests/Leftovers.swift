// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// What the process has before a storm, to compare with what it has after.
struct Leftovers {
    /// What the runtime, libdispatch and libuv may come to need once, for the process.
    private static let (descriptorsOfTheRuntime, threadsOfTheRuntime) = (3, 16)
    private static let ownThreads = ["uplink-loop", "uplink-callback", "uplink-end", "uplink-late"]

    private let before = Census()
    private let own = Self.countOwnThreads()
    private let open = Self.openFiles()

    /// What is too much now, in words. Waits for what is still going away.
    func find() async -> [String] {
        var faults: [String] = []
        do {
            try await eventually(within: .seconds(120)) {
                faults = look()
                return faults.isEmpty
            }
        } catch {}  // the faults say more
        return faults
    }

    private func look() -> [String] {
        let now = Census()
        var faults: [String] = []
        if now.descriptors > before.descriptors + Self.descriptorsOfTheRuntime {
            let new = Self.openFiles().subtracting(open).sorted().prefix(20)
            faults.append("\(now.descriptors) descriptors, \(before.descriptors) before; new: \(new)")
        }
        if now.threads > before.threads + Self.threadsOfTheRuntime {
            faults.append("\(now.threads) threads, \(before.threads) before")
        }
        let own = Self.countOwnThreads()
        if own > self.own { faults.append("\(own) threads of loops and contexts, \(self.own) before") }
        return faults
    }

    private static func countOwnThreads() -> Int { ownThreads.map { Threads.count(named: $0) }.reduce(0, +) }

    /// What the descriptors are, such as `7 socket:[4711]`.
    private static func openFiles() -> Set<String> {
        var files: Set<String> = []
        for descriptor in 0..<1024 {
            var target = [CChar](repeating: 0, count: 256)
            let length = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            guard length > 0 else { continue }
            let name = String(decoding: target.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
            files.insert("\(descriptor) \(name)")
        }
        return files
    }
}
