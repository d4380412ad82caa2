// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
public import SystemPackage
import UplinkHTTP

/// A file that was downloaded.
public struct DownloadedFile: Sendable {
    /// Where it stands: the target.
    public let path: FilePath
    /// Its size.
    public let byteCount: Int64
    /// Bytes of bodies that came over the network in this run; fewer than ``byteCount`` when an earlier run had left some.
    public let transferredBytes: Int64
    /// The URL that answered last, after all redirects.
    public let url: String
    /// The head of the last answer that bytes came from; nil when all were there before.
    public let head: HTTPResponse?
    /// The codings, such as `gzip`, that the server has applied although none was asked for (RFC 9110, section 8.4), in the
    /// order in which it did; mostly none. The file holds what they made of it, byte for byte, as its digest does: servers
    /// say so of archives as well, which are not to be decoded. They are those of the answer that the file began with, in
    /// this run or an earlier one, because what follows may leave them out (section 15.3.7).
    public internal(set) var contentCodings: [String]
    /// Its digest, where the options asked for one.
    public let checksum: [UInt8]?
    /// How many attempts there were.
    public let attempts: Int
    /// How often the download went on from where it was.
    public let resumptions: Int
    /// How often it began anew after bytes had come.
    public let restarts: Int

    /// Describes a file; of use to stand-ins. Each parameter is the property of its name; without `transferredBytes` all of
    /// the file's were transferred, and the content codings are those of the head.
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
