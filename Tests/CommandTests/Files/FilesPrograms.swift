// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import UplinkCommand

/// The program's own file server in a process of its own, and the program as its client.
struct FilesPrograms: Sendable {
    static let user = "me"
    static let password = "se:cret-Pa55"
    /// For files of the test, and the file with the password.
    let home: TemporaryDirectory
    /// What stands for the user's settings.
    let settings: TemporaryDirectory
    let server: RunningProgram
    let url: String

    /// Runs `body` with a server that was started with these words.
    static func with(_ words: String = "", _ body: (FilesPrograms) async throws -> Void) async throws {
        let (home, settings) = (try TemporaryDirectory(), try TemporaryDirectory())
        defer {
            for directory in [home, settings] { try? FileManager.default.removeItem(atPath: directory.path.string) }
        }
        try home.write("password", Array("\(password)\n".utf8))
        let server = try BuiltProgram.start(
            "files serve --user \(user) --password-file \(home.path)/password \(words)")
        try await server.waitForOutput("\n")
        let url = String(try #require(server.output.split(separator: "\n").first))
        try await body(FilesPrograms(home: home, settings: settings, server: server, url: url))
        server.signal(SIGINT)
        #expect(try await server.wait() == 130)
    }

    /// The options that every command takes.
    var options: String { options(for: url) }

    func options(for server: String) -> String {
        "--server \(server) --user \(Self.user) --password-file \(home.path)/password"
    }

    /// What tells a program from the user's own settings.
    var environment: [String: String] {
        ["XDG_CONFIG_HOME": settings.path.string, "XDG_STATE_HOME": "\(settings.path)/state"]
    }

    /// Starts `uplink files` with words, the options among them.
    func start(_ words: String) throws -> RunningProgram {
        try BuiltProgram.start("files \(words)", environment: environment)
    }

    /// Runs `uplink files` with words and the options to its end.
    @discardableResult
    func run(_ words: String, status: Int32 = 0) async throws -> RunningProgram {
        let program = try start("\(words) \(options)")
        try await program.wait(upTo: .seconds(90))
        #expect(program.status == status, "\(words): \(program.errors)")
        return program
    }
}

/// A file server that keeps back the rest of every transfer, and the answer to a deletion, until the client goes.
struct HoldingServer: Sendable {
    /// How many bytes of a file come.
    static let sent = 1000
    let server: RawServer

    /// - Parameter isLosingDeletions: Whether it ends the connection in place of an answer to a deletion.
    init(isLosingDeletions: Bool = false) throws {
        let root = anItem(0, "", folder: true, in: nil)
        func answer(_ value: some Encodable) throws -> String {
            let json = try FilesJSON.encode(value)
            return "HTTP/1.1 200 OK\r\nContent-Length: \(json.count)\r\n\r\n" + String(decoding: json, as: UTF8.self)
        }
        let user = try answer(User(firstName: "A", lastName: "B", root: root))
        let listing = try answer([anItem(1, "file")])
        let part = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 1000000\r\n\r\n"
        server = try RawServer([
            .answer { head in
                if head.hasPrefix("GET /me ") { return [.send(user)] }
                if head.hasPrefix("GET /items/\(itemID(0)) ") { return [.send(listing)] }
                if head.hasPrefix("DELETE ") { return isLosingDeletions ? [.reset] : [.waitForClose] }
                if head.hasPrefix("GET ") {
                    return [.send(part), .send([UInt8](repeating: 1, count: Self.sent)), .waitForClose]
                }
                return [.readSome(Self.sent), .waitForCloseWithoutReading, .reset]
            }, .loop,
        ])
    }
}
