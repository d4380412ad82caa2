// SPDX-License-Identifier: Apache-2.0
import Uplink

extension DemoModel.Actions {
    /// How long waiting for the network and loading may take together.
    static let limit = Duration.seconds(2)

    /// The real actions: the picture comes through the performer, the network's state from the monitor.
    init(url: URLArgument, monitor: any NetworkMonitor, performer: NetworkOperationPerformer, client: HTTPClient) {
        let requirement = url.requirement ?? .predicate("this host") { _ in true }
        loadPicture = {
            do {
                return try await performer.perform(completingWithin: Self.limit, requiring: requirement) {
                    try await Self.fetch(url.text, with: client)
                }
            } catch {
                throw DemoFailure(error)
            }
        }
        networkChanges = { monitor.changes(of: requirement) }  // if the monitor fails, the performer reports it
    }

    private static func fetch(_ url: String, with client: HTTPClient) async throws -> Picture {
        let response = try await client.get(url)
        guard (200..<300).contains(response.status.code) else { throw DemoFailure.status(response.status.code) }
        return try Picture(file: try await response.body.collect(upTo: PictureInfo.maximumBytes))
    }
}

extension DemoFailure {
    /// Describes an error in the demo's terms.
    init(_ error: any Error) {
        self =
            switch error {
            case let failure as DemoFailure: failure
            case let error as PictureError: .picture(error)
            case let error as HTTPClientError where error.code == .bodyTooLarge: .picture(.tooManyBytes)
            case let error as NetworkOperationError where error.code == .timedOut: .noNetwork("\(error)")
            case let error as NetworkOperationError where error.code == .deadlineExceeded: .tooSlow
            default: .other("\(error)")
            }
    }
}
