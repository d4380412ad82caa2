// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP

@testable import Uplink

/// What suites of files in the making share.
protocol PartialFileSuite {}

extension PartialFileSuite {
    var version: ResourceVersion { ResourceVersion(validator: .entityTag("\"v1\""), length: 1000, place: "p") }

    func with(_ body: (TemporaryDirectory, FilePath) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try body(directory, directory.path.appending("f"))
    }

    func open(
        _ target: FilePath, url: String = machineURL, _ change: (inout DownloadOptions) -> Void = { _ in }
    ) throws -> PartialFile {
        var options = DownloadOptions()
        change(&options)
        return try PartialFile(for: target, askedFor: url, options: options)
    }

    func code(_ body: () throws -> Void) -> DownloadError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DownloadError)?.code
        }
    }

    func leave(_ count: Int, at target: FilePath, _ version: ResourceVersion? = nil) throws {
        let file = try open(target)
        try file.begin(version ?? self.version)
        try file.append(.init([UInt8](repeating: 7, count: count)))
        #expect(file.abandon(keeping: true) == Int64(count))
    }
}
