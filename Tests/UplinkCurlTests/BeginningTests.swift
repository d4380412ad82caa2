// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// A client begins an exchange without waiting where its transport lets it, and has it sent where not: nobody can tell.
@Suite(.timeLimit(.minutes(1)))
struct BeginningTests {
    /// Has all requests sent, as the transports of others do.
    private struct Sending: HTTPTransport {
        let transport: CurlTransport
        func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            try await transport.send(request)
        }
    }

    enum Scenario: CaseIterable {
        case answer, redirect, badHead, silence, noTime, forbiddenField

        fileprivate var script: [RawServer.Step] {
            switch self {
            case .answer, .noTime, .forbiddenField: [.readHead, Self.whole]
            case .redirect:
                [
                    .readHead, .send("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"), .readHead,
                    Self.whole,
                ]
            case .badHead: [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 3x\r\n\r\n")]
            case .silence: [.readHead]
            }
        }

        private static let whole = RawServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    }

    /// All that a caller and its observer can see.
    private struct Outcome: Equatable {
        var body: [UInt8]?
        var redirects = 0
        var code: HTTPClientError.Code?
        var disposition: HTTPClientError.RequestDisposition?
        var attempts: Int?
        var hasURL: Bool?
        var told: [String] = []
    }

    @Test(arguments: Scenario.allCases)
    func bothWaysAreTheSame(_ scenario: Scenario) async throws {
        let begun = try await outcome(of: scenario) { $0 }
        let sent = try await outcome(of: scenario) { Sending(transport: $0) }
        #expect(begun == sent)
        #expect((begun.body == nil) == (begun.code != nil) && !begun.told.isEmpty)
    }

    private func outcome(
        of scenario: Scenario, over wrap: (CurlTransport) -> any HTTPTransport
    ) async throws -> Outcome {
        try await withServer(scenario.script) { server in
            try await withClient { _, curl in
                let client = HTTPClient(transport: wrap(curl))
                let recorder = Recorder()
                var options = HTTPRequestOptions()
                options.observer = { recorder.observe($0) }
                if scenario == .noTime { options.timeouts = HTTPTimeouts(total: .zero) }
                let fields: HTTPFields = scenario == .forbiddenField ? [.proxyAuthorization: "Basic QTpC"] : [:]
                let request = try HTTPRequest(parsing: server.url("/a"), headerFields: fields)
                var outcome = Outcome()
                do {
                    let response = try await client.execute(request, options: options)
                    outcome.redirects = response.redirects.count
                    outcome.body = try await response.body.collect(upTo: 10)
                } catch let error as HTTPClientError {
                    (outcome.code, outcome.disposition) = (error.code, error.requestDisposition)
                    (outcome.attempts, outcome.hasURL) = (error.attempts, !error.url.isEmpty)
                }
                outcome.told = recorder.words
                return outcome
            }
        }
    }
}
