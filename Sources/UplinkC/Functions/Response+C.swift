// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CUplink
import HTTPTypes

// The names are those of C; each function is documented in uplink.h.

@c @implementation
public func uplink_response_status(_ response: OpaquePointer?) -> CInt {
    ResponseBox.of(response).map { CInt(clamping: $0.head.status.code) } ?? 0
}

@c @implementation
public func uplink_response_url(_ response: OpaquePointer?) -> UnsafePointer<CChar>? {
    ResponseBox.of(response).flatMap { $0.strings.text($0.url) }
}

@c @implementation
public func uplink_response_content_length(_ response: OpaquePointer?) -> Int64 {
    ResponseBox.of(response)?.contentLength ?? -1
}

@c @implementation
public func uplink_response_header(
    _ response: OpaquePointer?, _ name: UnsafePointer<CChar>?
) -> UnsafePointer<CChar>? {
    guard let name, let name = try? Text.read(name) else { return nil }
    return ResponseBox.of(response).flatMap { $0.strings.bytes($0.value(of: name)) }
}

@c @implementation
public func uplink_response_header_count(_ response: OpaquePointer?) -> Int {
    ResponseBox.of(response)?.fieldCount ?? 0
}

@c @implementation
public func uplink_response_header_name(_ response: OpaquePointer?, _ field: Int) -> UnsafePointer<CChar>? {
    ResponseBox.of(response).flatMap { $0.strings.text($0.name(ofField: field)) }
}

@c @implementation
public func uplink_response_header_value(_ response: OpaquePointer?, _ field: Int) -> UnsafePointer<CChar>? {
    ResponseBox.of(response).flatMap { $0.strings.bytes($0.value(ofField: field)) }
}
