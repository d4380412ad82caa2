// SPDX-License-Identifier: Apache-2.0
import Uplink

// The code of the guide "Why does it say I am offline?".

func explain() async throws {
    for try await path in LinuxNetworkMonitor.shared.paths {
        guard let reason = path.unsatisfiedReason else { return print("online:", path) }
        print("offline:", reason.explanation)
        for family in IPAddress.Family.allCases {
            let way = path[family]
            print(family, way.unsatisfiedReason?.rawValue ?? "available", "through", way.interface ?? "nothing")
        }
        print("would work when bound:", path.alternatives.map(\.name))
        return
    }
}

func validated() async throws {
    let monitor = LinuxNetworkMonitor(
        on: .shared, validator: PathValidator(.http204("http://connectivitycheck.gstatic.com/generate_204")))
    for try await path in monitor.paths {
        switch path.ipv4.validation {
        case .validated: return print("the internet answers")
        case .captivePortal(let url): return print("log in first:", url ?? "somewhere")
        case .failed(let reason): print("no answer yet:", reason)
        case .disabled, .probing: continue
        }
    }
}

func heldDown() throws -> LinuxNetworkMonitor {
    // Held down over short breaks, validated over each family, and by other means where a sandbox refuses netlink.
    let monitor = LinuxNetworkMonitor(
        on: .shared, configuration: try .init(settle: .seconds(2), whenUnavailable: .poll(every: .seconds(10))),
        validator: PathValidator(.http204("http://connectivitycheck.gstatic.com/generate_204")))
    return monitor
}

func inASandbox() throws -> LinuxNetworkMonitor {
    LinuxNetworkMonitor(on: .shared, configuration: try .init(whenUnavailable: .poll(every: .seconds(10))))
}
