// SPDX-License-Identifier: Apache-2.0
package import Glibc
import UplinkCore

/// A program that a test started: what it writes is collected, and it is killed when the test lets go of it.
package final class RunningProgram: Sendable {
    private struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var openStreams: Int
        var status: CInt?
    }

    private static let spawning = Locked(())

    /// The process's number.
    package let id: pid_t
    private let streams: ProgramStreams
    private let state: Locked<State>

    /// Starts a program by its path.
    ///
    /// - Parameters:
    ///   - environment: Variables to set beside those of the test; an empty value unsets one.
    ///   - terminal: The size of a pseudo-terminal to run it on; nil for pipes, and an input that is empty.
    ///   - isRead: Whether what it writes is taken; otherwise it is as on a terminal that has stalled.
    package init(
        _ command: [String], environment: [String: String] = [:], terminal: TerminalDimensions? = nil,
        isRead: Bool = true
    ) throws {
        // One at a time: a program must not inherit another one's pipes, or their ends are never seen.
        (streams, id) = try Self.spawning.withLock { _ in
            let streams = try ProgramStreams(terminal: terminal)
            return (streams, try streams.spawn(command, environment: environment))
        }
        let readers = isRead ? streams.readers : []
        state = Locked(State(openStreams: readers.count))
        let (id, state) = (id, state)
        for (index, reader) in readers.enumerated() {
            detachThread {
                var buffer = [UInt8](repeating: 0, count: 65536)
                while true {
                    let count = read(reader, &buffer, buffer.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }  // a terminal whose program has gone reports EIO
                    let bytes = buffer.prefix(count)
                    state.withLock {
                        index == 0 ? $0.output.append(contentsOf: bytes) : $0.errors.append(contentsOf: bytes)
                    }
                }
                state.withLock { $0.openStreams -= 1 }
            }
        }
        detachThread {
            var status: CInt = 0
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
            let outcome = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
            state.withLock { $0.status = outcome }
        }
    }

    deinit { if state.withLock({ $0.status }) == nil { kill(id, SIGKILL) } }

    /// What the program has written so far; on a terminal its errors as well.
    package var output: String { String(decoding: state.withLock { $0.output }, as: UTF8.self) }
    /// What the program has written so far, as it is.
    package var outputBytes: [UInt8] { state.withLock { $0.output } }
    /// What the program has written to its standard error so far.
    package var errors: String { String(decoding: state.withLock { $0.errors }, as: UTF8.self) }
    /// The terminal's settings.
    package var terminalSettings: termios? { streams.terminalSettings }

    /// The exit status, or 128 and the number of the signal that ended it; nil until all it wrote has been read.
    package var status: CInt? { state.withLock { $0.openStreams == 0 ? $0.status : nil } }

    /// Waits for the program's end.
    ///
    /// - Throws: `WaitedInVain` after `limit`, with what the program wrote.
    @discardableResult
    package func wait(upTo limit: Duration = .seconds(30)) async throws -> CInt {
        var found: CInt?
        try await eventually(within: limit, "`\(id)` ends; it wrote: \(output) \(errors)") {
            found = status
            return found != nil
        }
        return found ?? -1
    }

    /// Waits until the output contains a text.
    package func waitForOutput(_ text: String, upTo limit: Duration = .seconds(30)) async throws {
        try await eventually(within: limit, "output with `\(text)` instead of `\(output)` and `\(errors)`") {
            output.contains(text)
        }
    }

    /// Sends a signal.
    package func signal(_ number: CInt) { kill(id, number) }

    /// Types on the terminal.
    package func type(_ keys: String) throws { try streams.type(keys) }

    /// Changes the terminal's size, which sends SIGWINCH to the program.
    package func resize(to size: TerminalDimensions) { streams.resize(to: size) }

    /// Stops reading, so that the program meets a closed output.
    package func stopReading() { streams.close() }
}
