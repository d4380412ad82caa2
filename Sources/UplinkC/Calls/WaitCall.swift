// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkEventLoop
import UplinkMonitor

/// A call that blocks a thread of the program until the network is there. It has no callback.
final class WaitCall: Call {
    private let task = CallTask()
    let isNamed = false

    func cancel() { task.cancel() }

    /// Blocks the caller until the requirement is met or the time is up; returns a status.
    ///
    /// - Parameter limit: When to cancel the wait, in seconds, because the performer's time does not end before there
    ///   is a first path.
    static func run(
        in context: Context, seconds: Double, requiring requirement: NetworkRequirement,
        atMost limit: Double = .infinity
    ) -> CInt {
        let call = WaitCall()
        guard let id = context.queue.update({ $0.add(call) }) else { return Status.stopped }
        if let path = context.monitor.currentPath, requirement.stableTime == .zero, requirement.isSatisfied(by: path) {
            context.queue.update { $0.end(id, nil) }
            return Status.ok
        }
        let (latch, status) = (Latch(), Locked(Status.ok))
        call.task.start(on: context) {
            let result = await context.performer.perform(withinSeconds: seconds, requiring: requirement) {}
            status.withLock { $0 = Self.status(of: result, in: context) }
            context.queue.update { $0.end(id, nil) }
            latch.open()
        }
        let alarm =
            limit == .infinity
            ? nil
            : Task(executorPreference: context.loop) { [clock = context.clock] in
                if (try? await clock.sleep(for: .seconds(limit))) != nil { call.cancel() }
            }
        latch.wait()
        alarm?.cancel()
        return status.withLock { $0 }
    }

    private static func status(of result: Result<Void, PerformFailure<Never>>, in context: Context) -> CInt {
        switch result {
        case .success: Status.ok
        case .failure(.notStarted(let error)): Status.of(error, in: context)
        }
    }
}
