// SPDX-License-Identifier: Apache-2.0
import CUplink
import HTTPTypes
import SystemPackage
import Uplink
import UplinkCore
import UplinkHTTP

/// What a program wants to download, and how; checked.
struct DownloadRequest: Sendable {
    let head: HTTPRequest
    /// The file, as it was given.
    let path: FilePath
    /// The absolute path.
    let target: FilePath
    /// The time limit; nil for none.
    let limit: Duration?
    let options: DownloadOptions
    let configuration: HTTPClient.Configuration
    let progress: uplink_download_progress_cb?

    init(
        _ url: String, to path: FilePath, within limit: Int64, _ given: UnsafePointer<uplink_download_options>?,
        in context: Context
    ) throws(StatusError) {
        (self.path, target) = (path, path.absolute)
        guard limit >= -1 else { throw StatusError(Status.invalid) }
        self.limit = limit < 0 ? nil : .milliseconds(limit)
        var options = DownloadOptions(monitor: context.monitor, clock: context.clock)
        options.eventLoop = context.loop
        var configuration = HTTPClient.Configuration()
        guard let given else {
            (head, progress) = (try Transfer.parse(url), nil)
            (self.options, self.configuration) = (options, configuration)
            return
        }
        let values = try Structure.read(given, atLeast: Structure.downloadOptionsSize)
        head = try Transfer.parse(url, fields: Fields.read(values.headers))
        progress = values.progress
        options.request.timeouts = try Transfer.timeouts(
            values.connect_milliseconds, values.first_byte_milliseconds, values.stall_milliseconds, 0)
        configuration.requiresHTTPS = values.https_only
        let requirement = try Requirement.read(values.requirement)
        options.requirement = values.ignores_network ? nil : requirement
        try options.take(values)
        (self.options, self.configuration) = (options, configuration)
    }
}

extension DownloadOptions {
    /// Takes the options about the file and the attempts.
    fileprivate mutating func take(_ values: uplink_download_options) throws(StatusError) {
        guard values.expected_size >= 0, values.maximum_size >= 0 else { throw StatusError(Status.invalid) }
        replacesExisting = values.replace_existing
        resumes = !values.starts_over
        acceptsUnframedBodies = values.accepts_unframed
        if values.maximum_failures > 0 { backOff.maximumFailures = Int(values.maximum_failures) }
        if values.expected_size > 0 { expectedSize = values.expected_size }
        if values.maximum_size > 0 { maximumSize = values.maximum_size }
        guard let digest = values.sha256 else { return }
        do {
            checksum = try .sha256(hexadecimal: Text.read(digest, atMost: 64))
        } catch {
            throw StatusError(Status.invalid)
        }
    }
}
