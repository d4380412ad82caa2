// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CUplink
import UplinkCore
import UplinkMonitor

// The names are those of C; each function is documented in uplink.h.

@c @implementation
public func uplink_current_path(
    _ context: OpaquePointer?, _ timeout: Int64, _ path: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    guard let path else { return Status.invalid }
    path.pointee = nil
    return withContext(context) { (context) throws(StatusError) in
        let seconds = try Milliseconds.seconds(timeout)
        if context.monitor.currentPath == nil, seconds > 0 {
            let status = WaitCall.run(in: context, seconds: seconds, requiring: .known, atMost: seconds)
            guard [Status.ok, Status.noNetwork, Status.cancelled].contains(status) else { return status }
        }
        guard let current = context.monitor.currentPath else {
            return context.queue.update { $0.phase == .closing } ? Status.stopped : Status.again
        }
        path.pointee = PathBox(current).retained()
        return Status.ok
    }
}

@c @implementation
public func uplink_watch(
    _ context: OpaquePointer?, _ callback: uplink_watch_cb?, _ user: UnsafeMutableRawPointer?,
    _ id: UnsafeMutablePointer<UInt64>?
) -> CInt {
    id?.pointee = 0
    return withContext(context) { context in
        guard let callback else { return Status.invalid }
        return begin(WatchCall(callback, UserPointer(user)), in: context, id) { $0.start($1, in: context) }
    }
}

extension NetworkRequirement {
    /// A requirement that any path meets.
    fileprivate static let known = predicate("a path, whatever it is") { _ in true }
}
