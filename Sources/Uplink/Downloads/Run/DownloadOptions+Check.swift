// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkHTTP

extension DownloadOptions {
    /// Checks that the options are valid, and that the request asks for a whole file.
    func check(_ request: HTTPRequest) throws(DownloadError) {
        guard request.method == .get else {
            throw Self.invalid("the method is \(request.method.rawValue); only what GET gives can be downloaded")
        }
        for name in [HTTPField.Name.range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince]
        where request.headerFields[name] != nil {
            throw Self.invalid("the field `\(name)` is the download's own; leave it out")
        }
        if let expectedSize, expectedSize < 0 {
            throw Self.invalid("`expectedSize` is \(expectedSize); give zero or more, or nil")
        }
        guard maximumSize >= 0 else { throw Self.invalid("`maximumSize` is \(maximumSize); give zero or more") }
        guard maximumRestarts >= 0 else {
            throw Self.invalid("`maximumRestarts` is \(maximumRestarts); give zero or more")
        }
        guard backOff.initialPause >= .zero, backOff.maximumPause >= .zero, backOff.maximumRetryAfter >= .zero else {
            throw Self.invalid("a pause of `backOff` is negative; give zero or more")
        }
        if let most = backOff.maximumFailures, most < 0 {
            throw Self.invalid("`backOff.maximumFailures` is \(most); give zero or more, or nil")
        }
        if let expected = checksum?.expected, expected.isEmpty {
            throw Self.invalid("the expected digest is empty; leave it out")
        }
    }

    private static func invalid(_ message: String) -> DownloadError {
        DownloadError(.invalidOptions, message: message)
    }
}

extension HTTPRequest {
    /// The URL for messages, without what may be secret; empty if it is none.
    package var redactedURL: String { (try? checkedURL())?.redacted ?? "" }
}
