// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CUplink

// The names are those of C; each function is documented in uplink.h.

@c @implementation
public func uplink_get(
    _ context: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<uplink_get_options>?,
    _ body: uplink_body_cb?, _ done: uplink_get_cb?, _ user: UnsafeMutableRawPointer?,
    _ id: UnsafeMutablePointer<UInt64>?
) -> CInt {
    get(context, url, options, body.map(TransferCall.Target.stream), done, user, id)
}

@c @implementation
public func uplink_get_collect(
    _ context: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<uplink_get_options>?,
    _ limit: Int, _ done: uplink_get_cb?, _ user: UnsafeMutableRawPointer?, _ id: UnsafeMutablePointer<UInt64>?
) -> CInt {
    // Swift imports `size_t` as signed: a negative value here is more than any body can have.
    get(context, url, options, .memory(limit: limit < 0 ? .max : limit), done, user, id)
}

@c @implementation
public func uplink_get_file(
    _ context: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<uplink_get_options>?,
    _ path: UnsafePointer<CChar>?, _ done: uplink_get_cb?, _ user: UnsafeMutableRawPointer?,
    _ id: UnsafeMutablePointer<UInt64>?
) -> CInt {
    get(context, url, options, Text.absolutePath(path).map(TransferCall.Target.file), done, user, id)
}

@c @implementation
public func uplink_resume(_ context: OpaquePointer?, _ id: UInt64) -> CInt {
    withContext(context) { context in
        context.queue.call(id)?.resume() == true ? Status.ok : Status.noCall
    }
}

/// Begins a transfer. The target is nil if it was not valid.
private func get(
    _ context: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<uplink_get_options>?,
    _ target: TransferCall.Target?, _ done: uplink_get_cb?, _ user: UnsafeMutableRawPointer?,
    _ id: UnsafeMutablePointer<UInt64>?
) -> CInt {
    id?.pointee = 0
    return withContext(context) { (context) throws(StatusError) in
        guard let url, let target, let done else { return Status.invalid }
        let call = TransferCall(try Transfer(url, options), to: target, done, UserPointer(user))
        return begin(call, in: context, id) { $0.start($1, in: context) }
    }
}
