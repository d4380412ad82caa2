// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import Uplink

@testable import UplinkCommand

/// The program's own file server in this process, and a client of it over a real connection.
struct FilesSite: Sendable {
    static let user = "me"
    static let password = "se:cr€t"
    let url: FilesServerURL
    let served: ServedFiles
    let transport: any HTTPTransport
    let files: FilesUseCases
    let root: Item

    /// Runs `body` with a server over these files.
    static func with(
        _ served: ServedFiles = ServedFiles(), faults: Faults = Faults(),
        _ body: @Sendable (FilesSite) async throws -> Void
    ) async throws {
        let credentials = try Credentials(user: user, password: password)
        let service = FilesService(served, for: credentials, faults: faults)
        try await FilesServer.withServer(service) { url in
            try await withTransport { transport in
                let url = try FilesServerURL(url)
                let files = try FilesUseCases.remote(url, as: credentials, over: transport)
                let root = try await served.root
                try await body(FilesSite(url: url, served: served, transport: transport, files: files, root: root))
            }
        }
    }

    /// A file's content.
    func content(of file: Item) async throws -> [UInt8] {
        let bytes = Locked<[UInt8]>([])
        try await files.read(file.id, of: file.size, progress: nil) { piece in bytes.withLock { $0 += piece } }
        return bytes.withLock { $0 }
    }

    /// Uploads bytes to the root.
    func put(_ bytes: [UInt8], named name: String) async throws -> Item {
        try await files.upload(.bytes(bytes), named: name, in: root.id, progress: nil)
    }
}

extension FilesSite {
    /// Uploads bytes to the root, their number untold.
    func put(_ bytes: [UInt8], inChunksOf count: Int, named name: String) async throws -> Item {
        let (pieces, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
        for start in stride(from: 0, to: bytes.count, by: count) {
            continuation.yield(Array(bytes[start..<min(start + count, bytes.count)]))
        }
        continuation.finish()
        return try await files.upload(.pieces(pieces), named: name, in: root.id, progress: nil)
    }
}

/// Expects an error of this kind.
///
/// A function and no closure in `#expect`: the compiler (6.3) gives a closure in a macro and one beside it the same
/// name, and runs the wrong one.
func expectError(
    _ code: FilesError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("no error", sourceLocation: sourceLocation)
    } catch {
        #expect((error as? FilesError)?.code == code, "\(error)", sourceLocation: sourceLocation)
    }
}
