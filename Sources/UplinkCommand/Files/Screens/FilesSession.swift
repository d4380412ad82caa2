// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkEventLoop

/// Shows a ``FilesModel`` on a terminal, and hands it the keys.
struct FilesSession: Sendable {
    let model: FilesModel

    /// Runs until the user quits or the input ends.
    func run() async throws {
        try TerminalMode.enter()
        defer { TerminalMode.restore() }
        let signals = Signals()
        try await signals.watch(TerminalMode.signals, TerminalMode.react)
        let keyboard = Keyboard()
        try await keyboard.start()
        await model.take(.resized(TerminalSize(of: STDOUT_FILENO)))
        await model.begin()
        await withTaskGroup { group in
            // Ends when the input ends or the user quits.
            group.addTask {
                for await key in keyboard.keys { await model.take(.key(key)) }
                return Ending.session
            }
            group.addTask {
                await draw()
                return .session
            }
            group.addTask {
                for await _ in signals.received { await model.take(.resized(TerminalSize(of: STDOUT_FILENO))) }
                return .itself
            }
            for await ending in group where ending == .session { group.cancelAll() }
        }
        await keyboard.stop()
        TerminalMode.restore()
        await model.end()
        try Task.checkCancellation()
    }

    /// What a task's end means.
    private enum Ending { case session, itself }

    /// Draws on a thread of its own, which a slow terminal holds up; it misses what is outdated by then.
    private func draw() async {
        var canvas = FilesCanvas()
        for await _ in model.changes {
            guard let sequence = canvas.sequence(for: await model.machine) else { continue }
            try? await EventLoop.shared.offLoop { try TerminalMode.draw(sequence) }
        }
    }
}

/// Draws the screens, with their pictures.
struct FilesCanvas {
    private var terminal = TerminalScreen()
    /// The picture drawn last, kept because drawing it takes a while.
    private var drawn: (picture: Picture, room: TerminalSize, placed: Frame.PlacedPicture?)?

    /// The sequence that draws what a machine shows; nil when that is on the terminal already.
    mutating func sequence(for machine: FilesMachine) -> String? {
        var frame = machine.frame
        if let picture = machine.picture { frame.picture = placed(picture, machine) }
        if frame.picture != nil {
            // The words that replace it are also in the line above the keys.
            for row in machine.bodyTop..<(machine.bodyTop + machine.bodyRows) { frame.lines[row] = Text() }
        }
        return terminal.sequence(for: frame)
    }

    private mutating func placed(_ picture: Picture, _ machine: FilesMachine) -> Frame.PlacedPicture? {
        #if Pictures
        var room = machine.size
        room.rows = machine.bodyRows
        if let drawn, drawn.room == room, drawn.picture == picture { return drawn.placed }
        let result = PictureDrawing.draw(picture, in: room, withColors: terminal.hasStyles)
        let placed = result.map {
            Frame.PlacedPicture(
                sequence: $0.sequence, rows: machine.bodyTop..<(machine.bodyTop + $0.rows))
        }
        drawn = (picture, room, placed)
        return placed
        #else
        return nil
        #endif
    }
}
