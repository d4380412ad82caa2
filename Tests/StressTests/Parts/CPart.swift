// SPDX-License-Identifier: Apache-2.0
import CUplink
import Glibc
import TestSupport
import Uplink
import UplinkTesting

/// Contexts of the C library on the device, each used by several plain threads at once, and destroyed while they use
/// it.
struct CPart: StormPart {
    let name = "C library"
    let kinds = ["UPLINK_OK", "UPLINK_ECANCELED", "UPLINK_ENONETWORK", "UPLINK_ESTOPPED", "UPLINK_ETIMEDOUT"]

    func round(_ scene: StormScene, _ record: StormRecord, _ random: inout SeededGenerator) async throws {
        let loop = try EventLoop(networkNamespace: scene.network.device.path)
        let server = try await loop.making { try MisbehavingServer() }
        let starts = [random.fork(), random.fork()]
        let namespace = scene.network.device.path
        try await withThrowingDiscardingTaskGroup { group in
            for start in starts {
                group.addTask { try await offPool { try CStorm.run(in: namespace, server, record, start) } }
            }
        }
        try await offPool { server.stop() }
        await loop.endAndWait()
    }
}

/// One context, the threads that use it, and the calls they made.
final class CStorm: Sendable {
    private struct State {
        var calls: [CCall] = []
        /// Operations that run, and bodies that are paused, until somebody does something about them.
        var open: [UInt64] = []
        var steps = 0
        var isDestroyed = false
    }

    private static let (threads, steps) = (4, 40)

    let server: MisbehavingServer
    let record: StormRecord
    private let handle: Int
    private let state = Locked(State())

    /// A handle is a number, and good on every thread.
    var context: OpaquePointer? { OpaquePointer(bitPattern: handle) }

    private init(_ context: OpaquePointer?, _ server: MisbehavingServer, _ record: StormRecord) {
        (self.server, self.record, handle) = (server, record, Int(bitPattern: context))
    }

    /// Makes a context, has it used, destroys it, and checks that each call had its one end before.
    static func run(
        in namespace: String, _ server: MisbehavingServer, _ record: StormRecord, _ start: SeededGenerator
    ) throws {
        var random = start
        let dispatches = random.oneIn(2)
        var context: OpaquePointer?
        let status = namespace.withCString { namespace in
            var options = uplink_context_options()
            options.size = MemoryLayout<uplink_context_options>.size
            options.dispatch = dispatches
            options.network_namespace = namespace
            options.log = { _, _, _, _ in }
            options.log_level = CInt(UPLINK_LOG_DEBUG.rawValue)
            return uplink_context_create(&options, &context)
        }
        guard status == 0 else { throw StatusFailure(status: status) }
        CStorm(context, server, record).run(dispatches: dispatches, &random)
    }

    private func run(dispatches: Bool, _ random: inout SeededGenerator) {
        var threads = (0..<Self.threads).map { _ in
            let start = random.fork()
            return PlainThread {
                var random = start
                for _ in 0..<Self.steps {
                    self.step(&random)
                    self.state.withLock { $0.steps += 1 }
                }
            }
        }
        if dispatches { threads.append(PlainThread { self.dispatch() }) }
        // In the middle of it, or when all has begun and some of it may have ended.
        let all = Self.threads * Self.steps
        let moment = Int.random(in: 0..<all * 2, using: &random)
        while state.withLock({ $0.steps }) < min(moment, all) { usleep(1000) }
        if moment > all { usleep(UInt32.random(in: 0..<500_000, using: &random)) }
        record.expect(uplink_context_destroy(context) == 0, "a context could not be destroyed")
        state.withLock { $0.isDestroyed = true }
        for thread in threads { thread.join() }
        // They hold this, and this held them until nobody can call back any more.
        let calls = state.withLock { state in
            defer { state.calls = [] }
            return state.calls
        }
        for call in calls { call.check() }
        record.expect(uplink_context_destroy(context) == Status.badHandle, "a context could be destroyed twice")
    }

    /// Whether callbacks may still come.
    var isAlive: Bool { !state.withLock { $0.isDestroyed } }

    /// Remembers an operation that runs, or a body that is paused.
    func leaveOpen(_ id: UInt64) { state.withLock { $0.open.append(id) } }

    private func dispatch() {
        while true {
            let count = uplink_dispatch(context)
            guard count >= 0 else {
                return record.expect([Status.stopped, Status.badHandle].contains(count), "dispatch: \(count)")
            }
            if count == 0 { usleep(300) }
        }
    }

    // MARK: What a thread does

    private func step(_ random: inout SeededGenerator) {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3: start { CPerform(in: self, &random) }
        case 3..<7: start { CTransfer(in: self, &random) }
        case 7: start { CWatch(in: self) }
        case 8: cancelOne(&random)
        case 9: continueSome()
        case 10:
            let status = uplink_wait(context, Int64.random(in: 0..<5, using: &random), nil)
            record.expect(
                [0, Status.noNetwork, Status.stopped, Status.badHandle].contains(status), "uplink_wait: \(status)")
        default: lookAtThePath()
        }
    }

    private func start(_ make: () -> CCall) {
        let call = make()
        state.withLock { $0.calls.append(call) }
        call.start()
    }

    private func cancelOne(_ random: inout SeededGenerator) {
        guard let call = state.withLock({ $0.calls }).randomElement(using: &random) else { return }
        let status = uplink_cancel(context, call.id)
        record.expect(
            [0, Status.noCall, Status.stopped, Status.badHandle].contains(status), "uplink_cancel: \(status)")
        _ = uplink_is_cancelled(context, call.id)
    }

    private func continueSome() {
        let open = state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
        for id in open where uplink_operation_complete(context, id, 7) == Status.noCall {
            _ = uplink_resume(context, id)
        }
    }

    private func lookAtThePath() {
        var path: OpaquePointer?
        guard uplink_current_path(context, 1, &path) == 0 else {
            return record.expect(path == nil, "a path beside an error")
        }
        let second = uplink_path_retain(path)
        uplink_path_release(path)
        record.expect(strlen(uplink_path_json(second)) > 2, "a path without JSON")
        uplink_path_release(second)
    }

    private struct StatusFailure: Error { let status: CInt }
}
