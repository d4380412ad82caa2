// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CUplink
import HTTPTypes

// The names are those of C; each function is documented in uplink/request.h.

@c @implementation
public func uplink_request_create(
    _ method: UnsafePointer<CChar>?, _ url: UnsafePointer<CChar>?, _ request: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    guard let request else { return Status.invalid }
    request.pointee = nil
    do throws(StatusError) {
        guard let method, let url else { return Status.invalid }
        guard let method = HTTPRequest.Method(try Text.read(method, notUTF8: Status.request)), method != .connect else {
            return Status.request
        }
        request.pointee = RequestBox(try Transfer.parse(try Text.read(url, notUTF8: Status.url), method: method))
            .retained()
        return Status.ok
    } catch {
        return error.status
    }
}

@c @implementation
public func uplink_request_free(_ request: OpaquePointer?) { RequestBox.release(request) }

@c @implementation
public func uplink_request_add_header(
    _ request: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> CInt {
    withRequest(request) { (box) throws(StatusError) in
        guard let name, let value else { return Status.invalid }
        let field = try Fields.field(try Text.read(name), value.pointee == 0 ? "" : try Text.read(value))
        return box.add(field) ? Status.ok : Status.invalid
    }
}

@c @implementation
public func uplink_request_set_body(
    _ request: OpaquePointer?, _ bytes: UnsafeRawPointer?, _ count: Int
) -> CInt {
    withRequest(request) { box in
        guard count >= 0, bytes != nil || count == 0 else { return Status.invalid }
        box.set(.bytes(Array(UnsafeRawBufferPointer(start: bytes, count: count))))
        return Status.ok
    }
}

@c @implementation
public func uplink_request_set_body_file(_ request: OpaquePointer?, _ path: UnsafePointer<CChar>?) -> CInt {
    withRequest(request) { box in
        guard let path = Text.absolutePath(path) else { return Status.invalid }
        box.set(.file(path))
        return Status.ok
    }
}

@c @implementation
public func uplink_request_set_body_source(
    _ request: OpaquePointer?, _ length: Int64, _ canRewind: Bool, _ read: uplink_read_cb?,
    _ user: UnsafeMutableRawPointer?
) -> CInt {
    withRequest(request) { box in
        guard let read, length >= -1 else { return Status.invalid }
        let length = length < 0 ? nil : length
        box.set(.source(.init(length: length, canRewind: canRewind, read: read, user: UserPointer(user))))
        return Status.ok
    }
}

@c @implementation
public func uplink_request_send(
    _ context: OpaquePointer?, _ request: OpaquePointer?, _ options: UnsafePointer<uplink_request_options>?,
    _ body: uplink_body_cb?, _ done: uplink_get_cb?, _ user: UnsafeMutableRawPointer?,
    _ id: UnsafeMutablePointer<UInt64>?
) -> CInt {
    send(context, request, options, body.map(TransferCall.Target.stream), done, user, id)
}

@c @implementation
public func uplink_request_collect(
    _ context: OpaquePointer?, _ request: OpaquePointer?, _ options: UnsafePointer<uplink_request_options>?,
    _ limit: Int, _ done: uplink_get_cb?, _ user: UnsafeMutableRawPointer?, _ id: UnsafeMutablePointer<UInt64>?
) -> CInt {
    send(context, request, options, .memory(limit: limit < 0 ? .max : limit), done, user, id)
}

/// Sends a request. The target is nil if it was not valid.
private func send(
    _ context: OpaquePointer?, _ request: OpaquePointer?, _ options: UnsafePointer<uplink_request_options>?,
    _ target: TransferCall.Target?, _ done: uplink_get_cb?, _ user: UnsafeMutableRawPointer?,
    _ id: UnsafeMutablePointer<UInt64>?
) -> CInt {
    id?.pointee = 0
    return withContext(context) { (context) throws(StatusError) in
        guard let request = RequestBox.of(request), let target, let done else { return Status.invalid }
        let call = TransferCall(try Transfer(request, options), to: target, done, UserPointer(user))
        return begin(call, in: context, id) { $0.start($1, in: context) }
    }
}

/// Calls `body` with a request; errors become a status.
private func withRequest(_ request: OpaquePointer?, _ body: (RequestBox) throws(StatusError) -> CInt) -> CInt {
    guard let box = RequestBox.of(request) else { return Status.invalid }
    do {
        return try body(box)
    } catch {
        return error.status
    }
}
