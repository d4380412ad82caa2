// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import UplinkCore

/// One reader of a stream, which carries out what its machine decides.
final class StreamSubscription<Value: Equatable & Sendable>: Sendable {
    private typealias Machine = StreamMachine<Value>

    private struct State {
        var queue = ElementQueue<Value>()
        /// The calls that wait for an element: one, unless the iterator was copied.
        var readers: [CheckedContinuation<Void, Never>] = []
        var observation: AnyDatabaseCancellable?
        var task: Task<Void, Never>?
        /// The pause between an observation that has ended and the next one.
        var pause: Task<Void, Never>?
        var isOver = false
    }

    /// The machine compares values, which runs the user's code, so it has a queue of its own instead of a lock.
    private final class Decider: @unchecked Sendable {  // only touched on `queue`
        var machine: Machine
        init(_ machine: Machine) { self.machine = machine }
    }

    private let stream: StoreStream<Value>
    private let state = Locked(State())
    private let decider: Decider
    /// Events are handled one after another; answers in the order of the commits.
    private let queue = DispatchQueue(label: "UplinkStore.stream")

    init(_ stream: StoreStream<Value>) {
        self.stream = stream
        decider = Decider(
            Machine(request: stream.request, minimumInterval: stream.sync?.minimumInterval, force: stream.force))
    }

    /// How many calls wait for an element; for tests.
    var waiting: Int { state.withLock { $0.readers.count } }

    func start() { observe() }

    /// Releases everything. May be called from any thread, any number of times.
    func end() {
        let (observation, tasks, readers) = state.withLock { state in
            defer { (state.observation, state.task, state.pause, state.readers) = (nil, nil, nil, []) }
            state.isOver = true
            return (state.observation, [state.task, state.pause], state.readers)
        }
        observation?.cancel()
        for task in tasks { task?.cancel() }
        for reader in readers { reader.resume() }
    }

    func next() async -> StoreElement<Value>? {
        await withTaskCancellationHandler { () -> StoreElement<Value>? in
            while true {
                var isOver = false
                let element = state.withLock { state in
                    isOver = state.isOver
                    return state.isOver ? nil : state.queue.popFirst()
                }
                if let element { return element }
                if isOver || Task.isCancelled { return nil }
                await withCheckedContinuation { continuation in
                    let mustWait = state.withLock { state in
                        guard !state.isOver, state.queue.isEmpty else { return false }
                        state.readers.append(continuation)
                        return true
                    }
                    if !mustWait { continuation.resume() }
                }
            }
        } onCancel: {
            end()
        }
    }

    /// Queues an event for the machine, behind all earlier ones.
    private func tell(_ event: @escaping @Sendable (inout Machine, Date) -> [Machine.Action]) {
        queue.async { [weak self] in self?.tellNow(event) }
    }

    /// Passes an event to the machine, on its queue, and carries out what it decides.
    private func tellNow(_ event: (inout Machine, Date) -> [Machine.Action]) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !state.withLock({ $0.isOver }) else { return }
        var startsSync = false
        var elements: [StoreElement<Value>] = []
        for action in event(&decider.machine, stream.store.now()) {
            switch action {
            case .emit(let element): elements.append(element)
            case .startSync: startsSync = true
            }
        }
        let readers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            for element in elements { state.queue.append(element) }
            guard !state.queue.isEmpty else { return [] }
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.resume() }
        if startsSync { startSync() }
    }

    // MARK: The database

    /// Observes the query and the record of its key's syncs, which are read together.
    ///
    /// GRDB's observation ends with the first error. So an error of the query is caught, and every later change fetches
    /// again; an observation that ends nevertheless is started again after a pause.
    private func observe() {
        let (query, key) = (stream.query, stream.sync?.key)
        let observation = ValueObservation.tracking { db -> Result<Machine.Snapshot, Machine.ReadFailure> in
            var record: SyncRecord?
            do {
                record = try key.map { try SyncRecord.of($0, in: db) }
                return .success(Machine.Snapshot(value: try query.fetch(db), record: record))
            } catch {
                if error is CancellationError { throw error }
                try db.registerAccess(to: .fullDatabase)
                return .failure(.init(error: Self.readError(error, query.name), number: record?.number ?? 0))
            }
        }
        let cancellable = observation.start(in: stream.store.database, scheduling: .async(onQueue: queue)) {
            [weak self] error in
            self?.observationEnded(error)
        } onChange: { [weak self] result in
            self?.tellNow { machine, now in
                switch result {
                case .success(let snapshot): machine.observed(snapshot, now: now)
                case .failure(let failure): machine.readFailed(failure, now: now)
                }
            }
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.observation = cancellable }
            return state.isOver
        }
        if isOver { cancellable.cancel() }
    }

    private func observationEnded(_ error: any Error) {
        let (name, clock) = (stream.query.name, stream.store.clock)
        tell { machine, now in machine.readFailed(.init(error: Self.readError(error, name)), now: now) }
        let pause = Task { [weak self] in
            guard (try? await ElapsedClock(clock).sleep(for: .seconds(1))) != nil else { return }
            guard let self, !self.state.withLock({ $0.isOver }) else { return }
            self.observe()
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.pause = pause }
            return state.isOver
        }
        if isOver { pause.cancel() }
    }

    private static func readError(_ error: any Error, _ name: String) -> StoreError {
        .database(error, while: "reading the query `\(name)`", otherwise: .readFailed)
    }

    // MARK: The sync

    private func startSync() {
        guard let sync = stream.sync else { return }
        let task = Task { [stream, store = stream.store, weak self] in
            let result: Result<SyncReceipt, StoreError>
            do {
                let interval = stream.force ? .zero : sync.minimumInterval
                let receipt = try await store.join(sync, unlessYoungerThan: interval) { [weak self] step in
                    self?.tell { machine, _ in machine.reached(step) }
                }
                result = .success(receipt)
            } catch let error as StoreError {
                result = .failure(error)
            } catch is CancellationError where Task.isCancelled {
                return
            } catch {
                result = .failure(.database(error, while: "syncing `\(sync.key)`", otherwise: .fetchFailed))
            }
            self?.tell { machine, now in machine.syncEnded(result, now: now) }
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }
}
#endif
