// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CUplink

// The names are those of C; each function is documented in uplink.h.

/// Finds the context and calls `body` with it; errors become a status.
func withContext(_ handle: OpaquePointer?, _ body: (Context) throws(StatusError) -> CInt) -> CInt {
    guard handle != nil else { return Status.invalid }
    guard let context = Handles.context(handle) else { return Status.badHandle }
    do {
        return try body(context)
    } catch {
        return error.status
    }
}

/// Begins a call: gives it an id, stores that, and starts the call last.
func begin<NewCall: Call>(
    _ call: NewCall, in context: Context, _ id: UnsafeMutablePointer<UInt64>?, _ start: (NewCall, UInt64) -> Void
) -> CInt {
    guard let number = context.queue.update({ $0.add(call) }) else { return Status.stopped }
    id?.pointee = number
    context.log(.debug) { "call \(number) begins" }
    start(call, number)
    return Status.ok
}

@c @implementation
public func uplink_context_create(
    _ options: UnsafePointer<uplink_context_options>?, _ context: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    guard let context else { return Status.invalid }
    context.pointee = nil
    do throws(StatusError) {
        let options = try ContextOptions(options)
        guard Handles.areOfThisProcess else { return Status.system }
        context.pointee = try Context(options).pointer
        return Status.ok
    } catch {
        return error.status
    }
}

@c @implementation
public func uplink_context_destroy(_ context: OpaquePointer?) -> CInt {
    guard context != nil else { return Status.ok }
    return withContext(context) { $0.destroy() }
}

@c @implementation
public func uplink_descriptor(_ context: OpaquePointer?) -> CInt {
    withContext(context) { $0.dispatches ? $0.queue.descriptor : Status.invalid }
}

@c @implementation
public func uplink_dispatch(_ context: OpaquePointer?) -> CInt {
    withContext(context) { $0.dispatch() }
}

@c @implementation
public func uplink_cancel(_ context: OpaquePointer?, _ id: UInt64) -> CInt {
    withContext(context) { context in
        guard let call = context.queue.update({ $0.cancel(id) }) else { return Status.noCall }
        call.cancel()
        return Status.ok
    }
}

@c @implementation
public func uplink_is_cancelled(_ context: OpaquePointer?, _ id: UInt64) -> CInt {
    withContext(context) { context in
        context.queue.update { $0.isCancelledForProgram(id) }.map { $0 ? 1 : 0 } ?? Status.noCall
    }
}
