// SPDX-License-Identifier: Apache-2.0
import CUplink
import HTTPTypes
import UplinkCore
import UplinkHTTP

/// What a program asks for with a GET, checked.
struct GetRequest: Sendable {
    /// How long to wait for the network first.
    struct Wait: Sendable {
        let seconds: Double
        let requirement: NetworkRequirement
    }

    let head: HTTPRequest
    var wait: Wait?
    var timeouts = HTTPTimeouts()
    var configuration = HTTPClient.Configuration()
    var replacesExisting = false

    init(_ url: UnsafePointer<CChar>, _ options: UnsafePointer<uplink_get_options>?) throws(StatusError) {
        let url = try Text.read(url)
        guard let options else {
            head = try Self.parse(url, [:])
            return
        }
        let values = try Structure.read(options, atLeast: Structure.getOptionsSize)
        head = try Self.parse(url, Self.fields(values.headers))
        let requirement = try Requirement.read(values.requirement)
        let seconds = try Milliseconds.seconds(values.wait_milliseconds)
        if values.waits_for_network { wait = Wait(seconds: seconds, requirement: requirement) }
        timeouts.connect = try Milliseconds.timeout(values.connect_milliseconds, default: timeouts.connect)
        timeouts.firstByte = try Milliseconds.timeout(values.first_byte_milliseconds, default: timeouts.firstByte)
        timeouts.stall = try Milliseconds.timeout(values.stall_milliseconds, default: timeouts.stall)
        timeouts.total = try Milliseconds.timeout(values.total_milliseconds, default: timeouts.total)
        configuration.requiresHTTPS = values.https_only
        replacesExisting = values.replace_existing
    }

    private static func parse(_ url: String, _ fields: HTTPFields) throws(StatusError) -> HTTPRequest {
        do {
            return try HTTPRequest(parsing: url, headerFields: fields)
        } catch {
            throw StatusError(Status.url)
        }
    }

    /// More fields than this are garbage, or a list without its end.
    private static let maximumFields = 256

    private static func fields(
        _ list: UnsafePointer<UnsafePointer<CChar>?>?
    ) throws(StatusError) -> HTTPFields {
        var fields = HTTPFields()
        guard var next = list else { return fields }
        while let line = next.pointee {
            guard fields.count < maximumFields else { throw StatusError(Status.invalid) }
            let text = try Text.read(line)
            guard let colon = text.firstIndex(of: ":"), let name = HTTPField.Name(String(text[..<colon])) else {
                throw StatusError(Status.request)
            }
            let value = String(text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
            guard HTTPField.isValidValue(value) else { throw StatusError(Status.request) }
            fields.append(HTTPField(name: name, value: value))
            next += 1
        }
        return fields
    }
}
