// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// What happens on the demo's own network.
enum Scenario: String, Sendable, CaseIterable, ExpressibleByArgument {
    case online, late, offline, slow

    var meaning: String {
        switch self {
        case .online: "the network is there"
        case .late: "the network is away first, and there after 1.2 seconds"
        case .offline: "the network does not come"
        case .slow: "the network is there, but the server takes 5 seconds"
        }
    }

    /// When the network comes, counted from the loading screen; nil for never.
    var arrival: Duration? {
        switch self {
        case .online, .slow: .zero
        case .late: .milliseconds(1200)
        case .offline: nil
        }
    }

    /// How long the server takes to answer.
    var answerTime: Duration { self == .slow ? .seconds(5) : .zero }
}
