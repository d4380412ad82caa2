// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkMonitor
import UplinkTesting

/// What tells the path in a scenario: the library, `uplink watch --json`, or a C program over libuplink, of both of which
/// every line is read back.
enum FrontEnd: String, Sendable, CaseIterable {
    case library, program, cLibrary

    /// All, but under ThreadSanitizer the library alone: the C library is not built for it, and the program has the same
    /// threads, at the price of a minute.
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

/// A path as `uplink watch --json` writes it.
struct WatchedPath: Decodable {
    private struct Family: Decodable {
        let isAvailable: Bool
        let unsatisfiedReason: String?
        let interface: String?
        let interfaceIndex: UInt32?
        let gateway: String?
        let source: String?
        let table: UInt32?

        var path: FamilyPath {
            var path = FamilyPath.unavailable(.unknown)
            path.isAvailable = isAvailable
            path.unsatisfiedReason = unsatisfiedReason.flatMap(UnsatisfiedReason.init(rawValue:))
            path.interface = interface
            path.interfaceIndex = interfaceIndex
            path.gateway = gateway.flatMap { IPAddress($0) }
            path.source = source.flatMap { IPAddress($0) }
            path.table = table
            return path
        }
    }

    private struct Interface: Decodable {
        let name: String
        let index: UInt32
        let kind: String
        let addresses: [String]
        let mtu: UInt32

        var interface: NetworkInterface? {
            guard let kind = NetworkInterface.Kind(rawValue: kind) else { return nil }
            return NetworkInterface(
                name: name, index: index, kind: kind, addresses: addresses.compactMap { IPAddress($0) }, mtu: mtu)
        }
    }

    private let status: String
    private let unsatisfiedReason: String?
    private let scope: String
    private let ipv4: Family
    private let ipv6: Family
    private let interfaces: [Interface]
    private let isExpensive: Bool
    private let isConstrained: Bool
    private let generation: UInt64

    /// Reads a line.
    init(line: Substring) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }

    /// The path that the line is about.
    var path: NetworkPath {
        get throws {
            NetworkPath(
                status: try #require(NetworkPath.Status(rawValue: status)),
                unsatisfiedReason: unsatisfiedReason.flatMap(UnsatisfiedReason.init(rawValue:)),
                scope: try #require(NetworkPath.Scope.allCases.first { "\($0)" == scope }), ipv4: ipv4.path,
                ipv6: ipv6.path, interfaces: interfaces.compactMap(\.interface), isExpensive: isExpensive,
                isConstrained: isConstrained, generation: generation)
        }
    }
}
