// SPDX-License-Identifier: Apache-2.0
import Uplink
import UplinkTesting

/// A program on a network that comes and goes, as a test would have it. Needs root: `sudo swift run test-network`.
@main
struct TestNetworkExample {
    static func main() async throws {
        try await withTestNetwork { network in
            // In this process: a loop on the device, and a monitor on the loop.
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                var paths = LinuxNetworkMonitor(on: loop).paths.makeAsyncIterator()
                print("at first:", try await paths.next()?.description ?? "-")
                try network.cableOut()
                print("cable out:", try await paths.next()?.description ?? "-")
                try network.cableIn()
                print("cable in:", try await paths.next()?.description ?? "-")
                try network.changeAddress(to: "192.0.2.20")
                print("another address:", try await paths.next()?.description ?? "-")
            }
            // Around a command.
            print(try await network.run(["ip", "-brief", "address"]).output)
        }
    }
}
