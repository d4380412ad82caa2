// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
public import SystemPackage
import UplinkHTTP

/// One of many downloads.
public struct DownloadItem: Sendable {
    /// An absolute `http` or `https` URL (RFC 3986).
    public var url: String
    /// The file's path.
    public var target: FilePath
    /// Fields to send with each attempt.
    public var headers: HTTPFields
    /// The options of this download.
    public var options: DownloadOptions

    /// Creates an item.
    public init(
        _ url: String, to target: FilePath, headers: HTTPFields = [:], options: DownloadOptions = .init()
    ) {
        (self.url, self.target, self.headers, self.options) = (url, target, headers, options)
    }
}
