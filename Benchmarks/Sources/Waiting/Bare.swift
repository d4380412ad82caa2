// SPDX-License-Identifier: Apache-2.0
import Harness
import Synchronization

/// Tasks that are suspended on a checked continuation each, which a table holds: the least that a waiting task can be.
enum Bare {
    static func woken(_ run: Run) async throws {
        let table = Table(run.count)
        run.begin()
        let tasks = makeTasks(run.count) { place in
            await withCheckedContinuation { table.suspend($0, in: place) }
        }
        try await until { table.suspended == run.count }
        run.noteBytes("held")
        run.mark("entering")
        table.resumeAll()
        for task in tasks { await task.value }
        run.mark("waking")
        run.end()
    }

    static func cancelled(_ run: Run) async throws {
        let table = Table(run.count)
        run.begin()
        let tasks = makeTasks(run.count) { place in
            await withTaskCancellationHandler {
                await withCheckedContinuation { table.suspend($0, in: place) }
            } onCancel: {
                table.resume(place)
            }
        }
        try await until { table.suspended == run.count }
        run.noteBytes("held")
        run.mark("entering")
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        run.mark("cancelling")
        run.end()
    }
}

/// Starts so many tasks on the default pool.
func makeTasks(_ count: Int, _ body: @escaping @Sendable (_ place: Int) async -> Void) -> [Task<Void, Never>] {
    var tasks: [Task<Void, Never>] = []
    tasks.reserveCapacity(count)
    for place in 0..<count { tasks.append(Task.detached { await body(place) }) }
    return tasks
}

private final class Table: @unchecked Sendable {  // a place belongs to its task until `count` tells of it
    private let places: UnsafeMutableBufferPointer<CheckedContinuation<Void, Never>?>
    private let count = Atomic(0)

    init(_ count: Int) {
        places = .allocate(capacity: count)
        places.initialize(repeating: nil)
    }

    deinit { places.deallocate() }

    var suspended: Int { count.load(ordering: .acquiring) }

    func suspend(_ continuation: CheckedContinuation<Void, Never>, in place: Int) {
        places[place] = continuation
        count.add(1, ordering: .acquiringAndReleasing)
    }

    func resume(_ place: Int) { places[place].take()?.resume() }

    func resumeAll() { for place in places.indices { resume(place) } }
}
