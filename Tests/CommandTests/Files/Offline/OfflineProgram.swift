// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import SystemPackage
import TestSupport
import Testing
import UplinkTesting

/// The real program, with a home of its own, and its server over a folder, at one port.
final class OfflineProgram: Sendable {
    private static let password = "se:cret-of-the-test"
    /// The files of the test.
    let home: TemporaryDirectory
    /// What the server has.
    let served: TemporaryDirectory
    private let config: TemporaryDirectory
    private let state: TemporaryDirectory
    private let address: String
    private let port: UInt16
    private let device: NetworkNamespace?
    private let router: NetworkNamespace?

    private init(_ network: TestNetwork?) throws {
        (home, served, config, state) = try (.init(), .init(), .init(), .init())
        (device, router) = (network?.device, network?.router)
        address = network == nil ? "127.0.0.1" : "192.0.2.254"
        port = try FreePort.take()
        try home.write("password", Array("\(Self.password)\n".utf8))
    }

    static func with(_ network: TestNetwork? = nil, _ body: (OfflineProgram) async throws -> Void) async throws {
        let program = try OfflineProgram(network)
        defer {
            for directory in [program.home, program.served, program.config, program.state] {
                try? FileManager.default.removeItem(atPath: directory.path.string)
            }
        }
        try await body(program)
    }

    private var credentials: String { "--user me --password-file \(home.path)/password" }
    private var environment: [String: String] {
        ["XDG_CONFIG_HOME": config.path.string, "XDG_STATE_HOME": state.path.string]
    }

    /// Runs the server for as long as `body` runs; it ends as in a power cut.
    func serve(_ options: String = "", _ body: () async throws -> Void) async throws {
        let server = try BuiltProgram.start(
            "files serve \(served.path) --address \(address) --port \(port) \(credentials) \(options)", in: router)
        try await server.waitForOutput("\n")
        try await body()
        server.signal(SIGKILL)
        try await server.wait()
    }

    /// Starts a command.
    ///
    /// - Parameter credentials: Nil for user and password.
    func start(_ words: String, as credentials: String? = nil) throws -> RunningProgram {
        try BuiltProgram.start(
            "files \(words) --server http://\(address):\(port) \(credentials ?? self.credentials)", in: device,
            environment: environment)
    }

    /// Starts a command where netlink is refused, as in a sandbox.
    func startWithoutNetlink(_ words: String) async throws -> RunningProgram {
        try await BuiltProgram.startWithoutNetlink(
            "files \(words) --server http://\(address):\(port) \(credentials)", errno: EPERM, in: device,
            environment: environment)
    }

    /// Runs a command to its end.
    func uplink(
        _ words: String, status: Int32 = 0, as credentials: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RunningProgram {
        let program = try start(words, as: credentials)
        try await program.wait(upTo: .seconds(60))
        #expect(program.status == status, "\(words): \(program.errors)", sourceLocation: sourceLocation)
        return program
    }

    /// What is kept, as paths in the directory for state.
    private var kept: [String] {
        get throws { try FileManager.default.subpathsOfDirectory(atPath: state.path.string) }
    }

    /// The copies that wait to be uploaded.
    var uploads: [String] { get throws { try kept.filter { $0.contains("/uploads/") } } }

    /// Nobody else can look into what is kept, and no password is in it.
    func expectPrivacy() throws {
        let kept = try kept
        #expect(kept.contains { $0.hasSuffix("/store.db") } && kept.contains { $0.contains("/contents/") })
        for name in kept {
            let path = state.path.appending(FilePath(name).components).string
            var status = stat()
            #expect(lstat(path, &status) == 0)
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            #expect(status.st_mode & 0o777 == (isDirectory ? 0o700 : 0o600), "\(name)")
            guard !isDirectory else { continue }
            let content = String(decoding: try TemporaryDirectory.read(FilePath(path)), as: UTF8.self)
            #expect(!content.contains(Self.password), "\(name)")
        }
    }
}
#endif
