// SPDX-License-Identifier: Apache-2.0
import CUplink
import HTTPTypes
import UplinkCore
import UplinkHTTP

/// What a program wants to transfer, and how; checked.
struct Transfer: Sendable {
    /// How long to wait for the network first.
    struct Wait: Sendable {
        let seconds: Double
        let requirement: NetworkRequirement
    }

    /// Its name in the log.
    var name = "GET"
    let head: HTTPRequest
    var body = RequestBox.Body.none
    var expectsContinue = false
    var wait: Wait?
    var options = HTTPRequestOptions()
    var configuration = HTTPClient.Configuration()
    var replacesExisting = false
    /// Called with how much of the request's body has gone out.
    var sent: uplink_sent_cb?

    init(_ url: UnsafePointer<CChar>, _ options: UnsafePointer<uplink_get_options>?) throws(StatusError) {
        let url = try Text.read(url, notUTF8: Status.url)
        guard let options else {
            head = try Self.parse(url)
            return
        }
        let values = try Structure.read(options, atLeast: Structure.getOptionsSize)
        head = try Self.parse(url, fields: Fields.read(values.headers))
        wait = try Self.wait(values.waits_for_network, values.wait_milliseconds, values.requirement)
        self.options.timeouts = try Self.timeouts(
            values.connect_milliseconds, values.first_byte_milliseconds, values.stall_milliseconds,
            values.total_milliseconds)
        configuration.requiresHTTPS = values.https_only
        replacesExisting = values.replace_existing
    }

    init(_ request: RequestBox, _ options: UnsafePointer<uplink_request_options>?) throws(StatusError) {
        let content = request.content
        (head, body, name) = (content.head, content.body, content.head.method.rawValue)
        guard let options else { return }
        let values = try Structure.read(options, atLeast: Structure.requestOptionsSize)
        wait = try Self.wait(values.waits_for_network, values.wait_milliseconds, values.requirement)
        self.options.timeouts = try Self.timeouts(
            values.connect_milliseconds, values.first_byte_milliseconds, values.stall_milliseconds,
            values.total_milliseconds)
        configuration.requiresHTTPS = values.https_only
        expectsContinue = values.expects_continue
        if values.is_idempotent { self.options.isIdempotent = true }
        if values.attempts > 1 {
            var policy = HTTPRetryPolicy()
            policy.maximumAttempts = Int(values.attempts)
            self.options.retry = policy
        }
        sent = values.sent
    }

    static func parse(
        _ url: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:]
    ) throws(StatusError) -> HTTPRequest {
        do {
            return try HTTPRequest(parsing: url, method: method, headerFields: fields)
        } catch {
            throw StatusError(Status.url)
        }
    }

    /// Checks all of it, even if the network is not waited for.
    private static func wait(
        _ waits: Bool, _ milliseconds: Int64, _ requirement: UnsafePointer<uplink_requirement>?
    ) throws(StatusError) -> Wait? {
        let wait = Wait(
            seconds: try Milliseconds.seconds(milliseconds), requirement: try Requirement.read(requirement))
        return waits ? wait : nil
    }

    static func timeouts(
        _ connect: Int64, _ firstByte: Int64, _ stall: Int64, _ total: Int64
    ) throws(StatusError) -> HTTPTimeouts {
        var timeouts = HTTPTimeouts()
        timeouts.connect = try Milliseconds.timeout(connect, default: timeouts.connect)
        timeouts.firstByte = try Milliseconds.timeout(firstByte, default: timeouts.firstByte)
        timeouts.stall = try Milliseconds.timeout(stall, default: timeouts.stall)
        timeouts.total = try Milliseconds.timeout(total, default: timeouts.total)
        return timeouts
    }
}
