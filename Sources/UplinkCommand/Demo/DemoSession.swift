// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Shows a ``DemoModel``: on a terminal's screen with keys, or as plain lines.
struct DemoSession: Sendable {
    let model: DemoModel
    /// The origin of the picture, for the result's last line.
    let source: String
    private static let frameTime = Duration.milliseconds(100)

    /// Runs once and prints the result, for a pipe or a file.
    func runPlainly() async throws -> DemoScreen {
        await model.run()
        let screen = await model.screen
        try Task.checkCancellation()
        try Output.standard.write(screen.text(source: source, frame: 0).plain + "\n")
        return screen
    }

    /// Runs on the terminal until `q`, or the end of the input.
    func runOnTerminal() async throws -> DemoScreen {
        try TerminalMode.enter()
        defer { TerminalMode.restore() }
        let signals = Signals()
        try await signals.watch(TerminalMode.signals, TerminalMode.react)
        let keyboard = Keyboard()
        try await keyboard.start()
        let last = await withTaskGroup { group in
            let events = events(keys: keyboard.keys, changes: signals.received, in: &group)
            group.addTask { await self.model.run() }
            var canvas = DemoCanvas(source: source)
            events: for await event in events {
                switch event {
                case .screen(let screen): canvas.show(screen)
                case .turn: canvas.turnSpinner()
                case .terminalChanged: canvas.redraw()
                case .key(let key) where key.isLetter("r"):
                    group.addTask { await self.model.run() }  // the model decides whether it may
                case .key(let key) where key.isLetter("q") || key == .control("d"): break events
                case .inputEnded: break events
                case .key: break
                }
            }
            group.cancelAll()
            return canvas
        }
        await keyboard.stop()
        TerminalMode.restore()
        try Task.checkCancellation()
        try last.leaveResult()
        return last.screen
    }

    private enum Event: Sendable {
        case screen(DemoScreen)
        case turn
        case terminalChanged
        case key(Key)
        case inputEnded
    }

    private func events(
        keys: AsyncStream<Key>, changes: AsyncStream<CInt>, in group: inout TaskGroup<Void>
    ) -> AsyncStream<Event> {
        let (events, event) = AsyncStream<Event>.makeStream()
        group.addTask {
            for await screen in self.model.screens { event.yield(.screen(screen)) }
            event.finish()
        }
        group.addTask {
            for await key in keys { event.yield(.key(key)) }
            event.yield(.inputEnded)
        }
        group.addTask { for await _ in changes { event.yield(.terminalChanged) } }
        group.addTask {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.frameTime)
                if await self.model.screen.isLoading { event.yield(.turn) }
            }
        }
        return events
    }
}
