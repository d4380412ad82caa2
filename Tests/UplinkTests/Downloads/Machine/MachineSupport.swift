// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkHTTP

@testable import Uplink

let machineURL = "https://example.org/disk.iso"

/// A machine whose pauses are not by chance.
func machine(_ change: (inout DownloadOptions) -> Void = { _ in }) -> DownloadMachine {
    var options = DownloadOptions()
    options.backOff.random = { 1 }
    change(&options)
    return DownloadMachine(url: machineURL, limits: DownloadLimits(options))
}

/// The head of an answer.
func answer(
    _ status: Int, tag: String? = "\"v1\"", length: Int64? = nil, range: String? = nil, fields: HTTPFields = [:],
    url: String = machineURL, framed: Bool = true
) -> DownloadAnswer {
    var fields = fields
    if let tag { fields[.eTag] = tag }
    if let range { fields[.contentRange] = range }
    return DownloadAnswer(
        head: HTTPResponse(status: .init(code: status), headerFields: fields), url: url, bodyLength: length,
        isFramed: framed)
}

extension DownloadMachine {
    /// Has received so many of so many bytes of version `v1`, and been cut off.
    static func interrupted(
        after received: Int = 400, of length: Int64? = 1000, tag: String? = "\"v1\"",
        _ change: (inout DownloadOptions) -> Void = { _ in }
    ) -> Self {
        var machine = machine(change)
        _ = machine.ask()
        _ = machine.answered(answer(200, tag: tag, length: length))
        _ = machine.received(received)
        _ = machine.failed(.networkLost("the cable is out"))
        return machine
    }
}

extension DownloadMachine.Verdict {
    var isBegin: Bool { if case .begin = self { true } else { false } }
    var isAppend: Bool { if case .append = self { true } else { false } }
    var step: DownloadMachine.Step? { if case .leave(let step) = self { step } else { nil } }
}

extension DownloadMachine.Step {
    var isComplete: Bool { if case .complete = self { true } else { false } }
    var pause: Duration? { if case .again(let pause, _) = self { pause.length } else { nil } }
    /// How long the pause is where the path changes; nil where that does not end it.
    var cutShort: Duration? { if case .again(let pause, _) = self { pause.cutShort } else { nil } }
    var error: DownloadError? { if case .fail(let error) = self { error } else { nil } }
}
