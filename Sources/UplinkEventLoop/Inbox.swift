// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc
import UplinkCore

/// The loop's work from other threads, taken in batches; an `eventfd` wakes the loop once per batch.
///
/// The flags are under one lock with the entries, so that no wake-up is lost. The descriptor is written to after the
/// lock is released, since otherwise the woken loop would have to wait for it; so it stays open as long as the inbox
/// exists. (libuv's own `uv_async_t` costs more: its receiving side spins.)
final class Inbox: Sendable {
    enum Entry: Sendable {
        /// A job of an actor on the loop.
        case job(UnownedJob)
        /// A job of a task that prefers the loop, outside any actor.
        case preferringJob(UnownedJob)
        /// A closure.
        case work(@Sendable () -> Void)
    }

    /// What the caller of `add` has to do.
    enum Addition: Equatable {
        /// Nothing: the loop will find the entry.
        case done
        /// Run the entries on a separate thread, because the loop has ended.
        case needsLateThread
    }

    private struct State {
        var entries: [Entry] = []
        /// Whether the loop is waiting for events or about to.
        var isAsleep = false
        /// Whether the loop must end once it has run what is here.
        var isClosing = false
        /// Whether the loop's thread is gone.
        var isClosed = false
        /// Whether a thread runs late entries.
        var hasLateThread = false

        /// Ends the loop's sleep. Returns true if somebody has to wake it.
        mutating func awaken() -> Bool {
            defer { isAsleep = false }
            return isAsleep
        }
    }

    /// Readable when the loop should wake.
    let wakeDescriptor: CInt
    private let state = Locked(State())

    init() throws(EventLoopError) {
        Self.occupyStandardStreams()
        wakeDescriptor = eventfd(0, uplink_eventfd_flags)
        guard wakeDescriptor >= 0 else { throw EventLoopError(.system, during: "starting an event loop", errno: errno) }
    }

    /// Occupies the numbers of standard streams that the program was started without. libuv aborts when it closes a
    /// descriptor with such a number, and output to the stream would go to whatever has its number.
    ///
    /// Reading and writing these descriptors fails as before.
    private static func occupyStandardStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 {
            let descriptor = Glibc.open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
            if descriptor >= 0, descriptor != stream { Glibc.close(descriptor) }  // another thread was faster
        }
    }

    /// Makes the inbox of a loop that could not be started: closed from the start.
    init(closed: Void) {
        wakeDescriptor = -1
        state.withLock { ($0.isClosing, $0.isClosed) = (true, true) }
    }

    deinit { if wakeDescriptor >= 0 { Glibc.close(wakeDescriptor) } }

    /// - Parameter isOnLoop: Whether the caller runs on the loop's thread, which looks here before it waits again: it
    ///   need not be woken, and a wake-up would cost it a turn.
    func add(_ entry: Entry, isOnLoop: Bool = false) -> Addition {
        let (addition, wakesLoop): (Addition, Bool) = state.withLock { state in
            state.entries.append(entry)
            guard state.isClosed else { return (.done, state.awaken()) }
            if state.hasLateThread { return (.done, false) }
            state.hasLateThread = true
            return (.needsLateThread, false)
        }
        if wakesLoop, !isOnLoop { wake() }
        return addition
    }

    /// Adds an entry that is only useful to a running loop; drops it if the loop has ended.
    func addUnlessClosed(_ entry: Entry) {
        let wakesLoop = state.withLock { state in
            guard !state.isClosed else { return false }
            state.entries.append(entry)
            return state.awaken()
        }
        if wakesLoop { wake() }
    }

    /// Asks the loop to end after everything in the inbox.
    func close() {
        let wakesLoop = state.withLock { state in
            guard !state.isClosing else { return false }
            state.isClosing = true
            return state.awaken()
        }
        if wakesLoop { wake() }
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// The result of the loop's look into the inbox.
    enum Finding: Equatable {
        /// Entries, which it has taken.
        case entries
        /// Nothing.
        case nothing
        /// Nothing, and from now on the loop counts as waiting for events.
        case sleep(isClosing: Bool)
    }

    /// Takes all entries; `batch` must be empty, and its storage is reused.
    ///
    /// - Parameter mayFallAsleep: Whether the loop is going to wait for events if there are none.
    func take(into batch: inout [Entry], mayFallAsleep: Bool) -> Finding {
        state.withLock { state in
            if !state.entries.isEmpty {
                swap(&state.entries, &batch)
                return .entries
            }
            state.isAsleep = mayFallAsleep
            return mayFallAsleep ? .sleep(isClosing: state.isClosing) : .nothing
        }
    }

    /// Makes the loop poll without waiting.
    func wakeSelf() { wake() }

    /// Marks the end of the loop's thread. Entries that are left or arrive later run on a thread of their own.
    func finish() -> Addition {
        state.withLock { state in
            state.isClosed = true
            state.hasLateThread = !state.entries.isEmpty
            return state.hasLateThread ? .needsLateThread : .done
        }
    }

    /// Takes late entries. If there are none, the thread that runs them ends.
    func takeLate() -> [Entry]? {
        state.withLock { state in
            guard !state.entries.isEmpty else {
                state.hasLateThread = false
                return nil
            }
            let entries = state.entries
            state.entries = []
            return entries
        }
    }

    /// Consumes the wake-up, so that the descriptor is no longer readable.
    func acknowledge() {
        var count: UInt64 = 0
        _ = read(wakeDescriptor, &count, 8)  // empty if another wake-up was consumed with this one
    }

    private func wake() {
        var one: UInt64 = 1
        _ = write(wakeDescriptor, &one, 8)  // fails only when the counter is full, and then the loop wakes anyway
    }
}
