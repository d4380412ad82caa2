// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// A client's configuration and what follows from it for all requests, computed once. An object, which each call holds.
final class ClientSettings: Sendable {
    let configuration: HTTPClient.Configuration
    let clock: ElapsedClock
    /// What is wrong with the configuration, apart from its timeouts, which a call may replace.
    private let problem: HTTPClientError?
    private let timeoutProblem: HTTPClientError?
    private let userAgent: Result<HTTPField?, HTTPClientError>
    /// The fields of a request whose caller gives none.
    private let usualFields: RequestFields

    init(_ configuration: HTTPClient.Configuration, clock: ElapsedClock = .init(ContinuousClock())) {
        (self.configuration, self.clock) = (configuration, clock)
        problem = Self.problem { () throws(HTTPClientError) in try configuration.validate() }
        timeoutProblem = Self.problem { () throws(HTTPClientError) in try configuration.timeouts.validate() }
        userAgent = Result { () throws(HTTPClientError) in
            try RequestCheck.checkUserAgent(configuration.userAgent)
            return configuration.userAgent.map { HTTPField(name: .userAgent, value: $0) }
        }
        usualFields = RequestFields([:], nil, userAgent: try? userAgent.get(), configuration)
    }

    private static func problem(_ check: () throws(HTTPClientError) -> Void) -> HTTPClientError? {
        do throws(HTTPClientError) {
            try check()
            return nil
        } catch {
            return error
        }
    }

    /// Checks the settings that apply to a call.
    ///
    /// - Parameter timeouts: The call's own timeouts, if it has any.
    func check(_ timeouts: HTTPTimeouts?) throws(HTTPClientError) {
        if let problem { throw problem }
        if let timeouts {
            try timeouts.validate()
        } else if let timeoutProblem {
            throw timeoutProblem
        }
    }

    /// The fields that go out with a request.
    func fields(_ fields: HTTPFields, _ contentType: String?) throws(HTTPClientError) -> RequestFields {
        let userAgent = try userAgent.get()
        if fields.isEmpty, contentType == nil { return usualFields }
        return RequestFields(fields, contentType, userAgent: userAgent, configuration)
    }
}
