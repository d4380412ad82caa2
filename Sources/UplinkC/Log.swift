// SPDX-License-Identifier: Apache-2.0
import CUplink

/// Logs what happens to a program, among its other callbacks.
struct Log: Sendable {
    /// How important a message is.
    enum Level: CInt, Sendable, Comparable {
        /// The context cannot do its work.
        case error = 1
        /// A call failed.
        case warning
        /// The path changed.
        case info
        /// Calls begin and end.
        case debug

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    private let callback: uplink_log_cb?
    private let user: UserPointer
    private let finest: Level
    private let queue: CallQueue
    private let handle: UInt

    init(_ options: ContextOptions, queue: CallQueue, handle: UInt) {
        callback = options.log
        user = options.logUser
        finest = options.logLevel
        self.queue = queue
        self.handle = handle
    }

    /// Logs a message, which is only made if it is to be logged.
    func callAsFunction(_ level: Level, _ message: () -> String) {
        guard let callback, level <= finest else { return }
        let (text, user, handle) = (message(), user, handle)
        queue.update { machine in
            machine.log { lost in
                CallMachine.Delivery(kind: .log) {
                    let words = lost == 0 ? text : "\(text) (and \(lost) messages before it were lost)"
                    words.withCString { callback(OpaquePointer(bitPattern: handle), level.rawValue, $0, user.pointer) }
                }
            }
        }
    }
}
