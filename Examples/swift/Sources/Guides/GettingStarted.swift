// SPDX-License-Identifier: Apache-2.0
import Uplink

// The code of the guide "Getting started".

func watch() async throws {
    for try await path in LinuxNetworkMonitor.shared.paths {
        print(path)  // satisfied: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1
    }
}

/// A path that is not a literal: only `Uplink` has to be imported for it.
func download(_ url: String, into directory: String) async throws -> String {
    let target = FilePath(directory).appending("disk.iso")
    return try await HTTPClient.shared.download(url, to: target, within: .seconds(3600)).path.string
}

func downloadImage() async throws {
    let image = try await HTTPClient.shared.download(
        "https://example.org/disk.iso", to: "disk.iso", within: .seconds(3600))
    print("\(image.byteCount) bytes, after \(image.attempts) attempts")
}

func post(_ note: [UInt8]) async throws -> Bool {
    try await withHTTPClient { client in
        let response = try await client.post("https://example.org/notes", body: .json(note))
        return response.status.kind == .successful
    }
}
