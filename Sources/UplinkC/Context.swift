// SPDX-License-Identifier: Apache-2.0
import CUplink
import SystemPackage
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP
import UplinkMonitor

/// The context of a C program: a loop with everything that works on it, and the callbacks.
final class Context: Sendable {
    /// Its number in ``Handles``.
    let handle: UInt
    let loop: EventLoop
    let clock: LoopClock
    let monitor: LinuxNetworkMonitor
    let performer: NetworkOperationPerformer
    let transport: CurlTransport
    let queue: CallQueue
    let log: Log
    /// The callback thread; nil if the program dispatches itself.
    private let thread: CallbackThread?

    init(_ options: ContextOptions) throws(StatusError) {
        do {
            loop = try EventLoop(networkNamespace: options.networkNamespace)
        } catch {
            throw StatusError(error.code == .networkNamespace ? Status.namespace : Status.system)
        }
        // After the loop, which occupies the numbers of standard streams that are closed.
        guard let queue = CallQueue() else {
            loop.end()
            throw StatusError(Status.system)
        }
        do {
            transport = try CurlTransport(on: loop, configuration: options.transport)
        } catch {
            loop.end()
            throw StatusError(Status.invalid)
        }
        self.queue = queue
        thread = options.dispatches ? nil : CallbackThread(for: queue)
        guard options.dispatches || thread != nil else {
            loop.end()
            throw StatusError(Status.system)
        }
        handle = Handles.reserve()
        log = Log(options, queue: queue, handle: handle)
        clock = LoopClock(on: loop)
        monitor = LinuxNetworkMonitor(on: loop)
        performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
        Handles.insert(self)
        keepMonitorAwake()
    }

    /// Whether callbacks run in `uplink_dispatch`.
    var dispatches: Bool { thread == nil }

    /// The status of a call that was cancelled: by the program, or by the end of the context.
    var cancellation: CInt { queue.update { $0.phase == .closing } ? Status.stopped : Status.cancelled }

    /// Ends a call with its last callback, and logs that.
    func end(_ id: CallMachine.ID, _ what: String, _ status: CInt, _ message: String, _ last: CallMachine.Delivery) {
        let isFailure = ![Status.ok, Status.cancelled, Status.stopped].contains(status)
        log(isFailure ? .warning : .debug) { "call \(id), \(what), has ended: \(message)" }
        queue.update { $0.end(id, last) }
    }

    /// Runs the callbacks that are due, and returns how many; only for programs that dispatch themselves.
    func dispatch() -> CInt {
        guard dispatches else { return Status.invalid }
        if queue.isRunningHere { return Status.deadlock }
        return queue.update { $0.phase == .closing } ? Status.stopped : queue.dispatch()
    }

    /// Ends everything. When this returns, only the context's memory is left.
    func destroy() -> CInt {
        guard !queue.isRunningHere else { return Status.deadlock }
        guard let calls = queue.update({ $0.close() }) else { return Status.stopped }
        for call in calls { call.stop() }
        if let thread { thread.join() } else { queue.runUntilFinished() }
        monitor.stop()
        let isShut = Latch()
        Task(executorPreference: loop) { [transport] in
            await transport.shutdown(.cancelling)
            isShut.open()
        }
        isShut.wait()
        loop.end()
        Handles.remove(self)
        queue.shut()
        return Status.ok
    }

    /// Holds a subscription, so that the path is known whenever it is asked for. It costs nothing while nothing
    /// changes.
    ///
    /// A monitor that fails (no descriptors, no memory) starts again when it is asked again, which happens after 1, 2,
    /// 4 and so on, at most 30 seconds.
    private func keepMonitorAwake() {
        Task(executorPreference: loop) { [clock, monitor, log] in
            var pause = Duration.seconds(1)
            while true {
                do throws(NetworkMonitorError) {
                    for try await path in monitor.paths {
                        pause = .seconds(1)
                        log(.info) { "path: \(path)" }
                    }
                    return  // the context ends
                } catch {
                    log(.error) { "\(Advice.inC(error.message)); trying again in \(pause)" }
                }
                guard (try? await clock.sleep(for: pause)) != nil else { return }  // the loop has ended
                pause = min(pause * 2, .seconds(30))
            }
        }
    }
}
