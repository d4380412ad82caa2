// SPDX-License-Identifier: Apache-2.0

/// What the demo shows: loading, then a result.
enum DemoScreen: Sendable, Equatable {
    /// The picture is being loaded. After a while without a network the screen says so.
    case loading(saysNoNetwork: Bool)
    /// The picture is there.
    case picture(DemoResult)
    /// There is no picture, and why.
    case failure(DemoFailure)

    var isLoading: Bool { if case .loading = self { true } else { false } }
    var isFailure: Bool { if case .failure = self { true } else { false } }
}

/// A picture, and how long it took from the loading screen's first appearance.
struct DemoResult: Sendable, Equatable {
    var picture: Picture
    var duration: Duration
}

/// Why there is no picture.
enum DemoFailure: Error, Sendable, Equatable {
    /// The network did not come in time; what was missing.
    case noNetwork(String)
    /// The network was there, but the picture was not complete in time.
    case tooSlow
    /// The server answered with a status other than 200 to 299.
    case status(Int)
    /// The answer is not a picture that can be shown.
    case picture(PictureError)
    /// Anything else, in its own words.
    case other(String)
}

extension DemoFailure: CustomStringConvertible {
    /// What went wrong, in a few words.
    var headline: String {
        switch self {
        case .noNetwork: "No network"
        case .tooSlow: "Too slow"
        case .status(let code): "The server answered \(code)"
        case .picture: "Not a picture to show"
        case .other: "It did not work"
        }
    }

    /// Why, in a sentence.
    var reason: String {
        switch self {
        case .noNetwork(let missing): missing
        case .tooSlow: "the network is there, but the picture was not complete within the time limit"
        case .status(404): "there is no such picture (404 Not Found)"
        case .status(let code) where code >= 500: "the server has a problem of its own (HTTP status \(code))"
        case .status(let code): "HTTP status \(code)"
        case .picture(let error): error.description
        case .other(let words): words
        }
    }

    var description: String { "\(headline): \(reason)" }
}
