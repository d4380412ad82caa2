// SPDX-License-Identifier: Apache-2.0

/// The script of what happens to the download of `uplink demo --outage`, and when.
struct OutageScript: Sendable, Hashable {
    /// What is taken away, and given back after a while.
    enum Outage: Sendable, Hashable {
        /// The cable between client and server.
        case cable
        /// The server's process.
        case server

        /// The line to print when it begins.
        var beginning: String {
            switch self {
            case .cable: "The cable is pulled."
            case .server: "The server is killed (SIGKILL)."
            }
        }

        /// The line to print when it is over.
        var ending: String {
            switch self {
            case .cable: "The cable is back."
            case .server: "The server is started again."
            }
        }

        /// The orders for the server's side.
        var orders: (begin: String, end: String) {
            switch self {
            case .cable: ("cable out", "cable in")
            case .server: ("kill", "start")
            }
        }
    }

    /// The server's limit, in bytes per second.
    static let pace = 20_000_000
    let megabytes: Int
    /// How long each outage lasts at least, in seconds.
    let pause: Double

    /// How large the file is.
    var byteCount: Int { megabytes * 1_000_000 }

    /// The outages, and how many bytes have come when each begins.
    var outages: [(mark: Int, outage: Outage)] {
        [(byteCount / 4, .cable), (byteCount / 2, .server), (byteCount / 4 * 3, .cable)]
    }

    /// How far the server goes until this many outages are over: to the next one's mark, however late this machine
    /// notices that the mark is reached.
    func limit(afterOutages count: Int) -> Int { count < outages.count ? outages[count].mark : byteCount }

    /// The words that start the demo's inner half with this script.
    var words: [String] { [OutageStageCommand.name, "--megabytes", "\(megabytes)", "--pause", "\(pause)"] }
}
