// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import UplinkCore
import UplinkHTTP
import UplinkTesting

@testable import Uplink

/// A download without a socket: a stub of a server, of the network and of time, and a directory.
struct DownloadScene {
    let transport = StubTransport()
    let monitor = StubNetworkMonitor(.online())
    let clock = ManualClock()
    let directory: TemporaryDirectory
    let content: [UInt8]
    let url = "https://example.org/disk.iso"

    static func with(_ size: Int = 1000, _ body: (DownloadScene) async throws -> Void) async throws {
        let scene = DownloadScene(directory: try TemporaryDirectory(), content: Self.content(size))
        defer { scene.directory.remove() }
        try await body(scene)
    }

    /// Bytes that differ wherever one looks.
    static func content(_ count: Int, version: UInt64 = 1) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        for index in 0..<count { bytes[index] = byte(at: index, version: version) }
        return bytes
    }

    static func byte(at offset: Int, version: UInt64) -> UInt8 {
        var word = UInt64(offset / 8) &+ version &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return UInt8(truncatingIfNeeded: word >> UInt64(offset % 8 * 8))
    }

    var target: FilePath { directory.path.appending("disk.iso") }

    var options: DownloadOptions {
        var options = DownloadOptions()
        options.monitor = monitor
        options.clock = clock
        options.backOff.random = { 1 }
        return options
    }

    var client: HTTPClient { HTTPClient(transport: transport) }

    func start(_ change: (inout DownloadOptions) -> Void = { _ in }) -> Download {
        var options = options
        change(&options)
        return client.startDownload(url, to: target, within: .seconds(3600), options: options)
    }

    // MARK: Answers

    let fields: HTTPFields = [.eTag: "\"v1\""]

    var whole: StubTransport.Answer { .response(.ok, headers: fields, pieces: [content]) }

    /// The first bytes, and then what `ending` says.
    func cut(after count: Int) -> StubTransport.Answer {
        var fields = fields
        fields[.contentLength] = "\(content.count)"
        return .stalled(after: [Array(content[..<count])], headers: fields)
    }

    func broken(after count: Int, tag: String? = "\"v1\"") -> StubTransport.Answer {
        var fields: HTTPFields = [.contentLength: "\(content.count)"]
        fields[.eTag] = tag
        return .broken(Self.reset, after: [Array(content[..<count])], headers: fields)
    }

    static let reset = HTTPClientError(
        .connectionReset, phase: .body, requestDisposition: .responseStarted, message: "the connection broke")

    func rest(from offset: Int) -> StubTransport.Answer {
        var fields = fields
        fields[.contentRange] = "bytes \(offset)-\(content.count - 1)/\(content.count)"
        return .response(.partialContent, headers: fields, pieces: [Array(content[offset...])])
    }

    /// What the requests asked for.
    var ranges: [String?] { transport.requests.map { $0.head.headerFields[.range] } }
}

extension TemporaryDirectory {
    /// Whether a file has this content. A mere Bool, so that a failed test does not print both.
    func holds(_ name: String, _ content: [UInt8]) -> Bool { (try? read(name)) == content }
}
