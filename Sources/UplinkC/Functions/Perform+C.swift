// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CUplink

// The names are those of C; each function is documented in uplink.h.

@c @implementation
public func uplink_perform(
    _ context: OpaquePointer?, _ timeout: Int64, _ requirement: UnsafePointer<uplink_requirement>?,
    _ operation: uplink_operation_cb?, _ outcome: uplink_outcome_cb?, _ user: UnsafeMutableRawPointer?,
    _ id: UnsafeMutablePointer<UInt64>?
) -> CInt {
    id?.pointee = 0
    return withContext(context) { (context) throws(StatusError) in
        guard let operation, let outcome else { return Status.invalid }
        let seconds = try Milliseconds.seconds(timeout)
        let requirement = try Requirement.read(requirement)
        return begin(PerformCall(operation, outcome, UserPointer(user)), in: context, id) {
            $0.start($1, in: context, seconds: seconds, requiring: requirement)
        }
    }
}

@c @implementation
public func uplink_operation_complete(_ context: OpaquePointer?, _ id: UInt64, _ result: CInt) -> CInt {
    withContext(context) { context in
        context.queue.call(id)?.complete(result) == true ? Status.ok : Status.noCall
    }
}

@c @implementation
public func uplink_wait(
    _ context: OpaquePointer?, _ timeout: Int64, _ requirement: UnsafePointer<uplink_requirement>?
) -> CInt {
    withContext(context) { (context) throws(StatusError) in
        let seconds = try Milliseconds.seconds(timeout)
        return WaitCall.run(in: context, seconds: seconds, requiring: try Requirement.read(requirement))
    }
}
