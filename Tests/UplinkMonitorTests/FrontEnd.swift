// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkMonitor
import UplinkTesting

/// What tells the path in a scenario: the library, `uplink watch --json`, or a C program over libuplink, of both of
/// which every line is read back.
enum FrontEnd: String, Sendable, CaseIterable {
    case library, program, cLibrary

    /// All, but under ThreadSanitizer the library alone: the C library is not built for it, and the program has the
    /// same threads, at the price of a minute.
    static let allCases: [Self] = dlsym(nil, "__tsan_init") == nil ? [.library, .program, .cLibrary] : [.library]

    /// Has `observer` hear every path while `body` runs.
    nonisolated(nonsending) func observing(
        _ network: TestNetwork, _ monitor: LinuxNetworkMonitor, _ observer: PathObserver,
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        switch self {
        case .library:
            let observation = Task {
                for try await path in monitor.paths { await observer.record(path) }
                await observer.end()
            }
            try await body()
            monitor.stop()
            try await observation.value
        case .program: try await observing(BuiltProgram.start("watch --json", in: network.device), observer, body)
        case .cLibrary:
            let program = try RunningProgram(network.device.entering([try await CLibrary.watch.value, "json"]))
            try await observing(program, observer, body)
        }
    }

    private nonisolated(nonsending) func observing(
        _ program: RunningProgram, _ observer: PathObserver, _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        let observation = Task {
            var count = 0
            while program.status == nil {
                let lines = program.output.split(separator: "\n", omittingEmptySubsequences: false)
                for line in lines.dropLast().dropFirst(count) {
                    await observer.record(try WatchedPath(line: line).path)
                    count += 1
                }
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        try await body()
        program.signal(SIGTERM)
        #expect(try await program.wait() == 143, "\(program.errors)")
        try await observation.value
    }
}
