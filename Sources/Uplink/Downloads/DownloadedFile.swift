// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
public import SystemPackage
import UplinkHTTP

/// A file that was downloaded.
public struct DownloadedFile: Sendable {
    /// The path of the file: the target.
    public let path: FilePath
    /// Its size.
    public let byteCount: Int64
    /// How many bytes of bodies this run received; fewer than ``byteCount`` when an earlier run left some.
    public let transferredBytes: Int64
    /// The URL that answered last, after all redirects.
    public let url: String
    /// The head of the last answer that bytes came from; nil when all were there before.
    public let head: HTTPResponse?
    /// The codings, such as `gzip`, that the server applied although none was asked for (RFC 9110, section 8.4), in the
    /// order of application; usually none. The file and its digest have the coded bytes, as they came: servers also
    /// announce a coding for archives, which are not to be decoded. The codings are those of the answer that the file
    /// began with, in this run or an earlier one, because later answers may leave them out (section 15.3.7).
    public internal(set) var contentCodings: [String]
    /// Its digest, if the options asked for one.
    public let checksum: [UInt8]?
    /// How many attempts there were.
    public let attempts: Int
    /// How often the download went on from where it was.
    public let resumptions: Int
    /// How often it started over after bytes had come, or been announced.
    public let restarts: Int

    /// Creates a description of a file, for stand-ins in tests. Each parameter is the property of the same name.
    /// Without `transferredBytes` all of the file's bytes were transferred; the content codings are those of the head.
    public init(
        path: FilePath, byteCount: Int64, transferredBytes: Int64? = nil, url: String, head: HTTPResponse? = nil,
        checksum: [UInt8]? = nil, attempts: Int = 1, resumptions: Int = 0, restarts: Int = 0
    ) {
        (self.path, self.byteCount, self.url, self.head) = (path, byteCount, url, head)
        (self.transferredBytes, self.checksum) = (transferredBytes ?? byteCount, checksum)
        contentCodings = head.map(ContentCoding.names) ?? []
        (self.attempts, self.resumptions, self.restarts) = (attempts, resumptions, restarts)
    }
}
