// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkTesting

/// The shared client in a program of its own, because it belongs to the network that its process is in.
@Suite(.timeLimit(.minutes(2)), .undisturbed, .serialized, .needsNetworkNamespaces)
struct SharedClientNetworkTests {
    private func size(_ path: FilePath) -> Int {
        var status = stat()
        return stat(path.string, &status) == 0 ? Int(status.st_size) : -1
    }

    /// Nothing but the monitor's word ends the connection so soon: the server may be silent for an hour, and the kernel
    /// asks an idle peer after half a minute.
    @Test func theSharedClientHearsThatItsAddressIsGone() async throws {
        let content = DownloadScene.content(300_000)
        try await DownloadNetworkScene.with(content, [.hold(after: 100_000)]) { scene in
            let words = [BuiltProgram.path(of: "DownloadVictim"), scene.url, scene.target.string, "60", "stall=3600"]
            let program = try RunningProgram(scene.network.device.entering(words))
            let partial = scene.directory.path.appending(".f.uplink-part")
            try await eventually("the program has written what came: \(program.output)") { size(partial) == 100_000 }
            // Its monitor began to look with the request, and nothing outside of the program tells when it has looked.
            try await Task.sleep(for: .milliseconds(500))
            try scene.network.changeAddress()
            #expect(try await program.wait(upTo: .seconds(25)) == 0, "\(program.output)")
            #expect(program.output.hasPrefix("whole 300000 transferred 300000 resumptions 1"), "\(program.output)")
            #expect(scene.directory.holds("f", content))
        }
    }
}
