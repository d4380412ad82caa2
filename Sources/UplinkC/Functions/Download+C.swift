// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CUplink

// The names are those of C; each function is documented in uplink/download.h.

@c @implementation
public func uplink_download(
    _ context: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?, _ limit: Int64,
    _ options: UnsafePointer<uplink_download_options>?, _ done: uplink_download_cb?,
    _ user: UnsafeMutableRawPointer?, _ id: UnsafeMutablePointer<UInt64>?
) -> CInt {
    id?.pointee = 0
    return withContext(context) { (context) throws(StatusError) in
        guard let url, let path = Text.path(path), let done else { return Status.invalid }
        let request = try DownloadRequest(
            try Text.read(url, notUTF8: Status.url), to: path, within: limit, options, in: context)
        return begin(DownloadCall(request, done, UserPointer(user)), in: context, id) { $0.start($1, in: context) }
    }
}
