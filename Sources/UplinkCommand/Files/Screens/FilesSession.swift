// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Shows a ``FilesModel`` on a terminal, and hands it the keys.
struct FilesSession: Sendable {
    let model: FilesModel

    /// Runs until the person quits, or the input ends.
    func run() async throws {
        try TerminalMode.enter()
        defer { TerminalMode.restore() }
        let signals = Signals()
        try await signals.watch([SIGWINCH])
        let keyboard = Keyboard()
        try await keyboard.start()
        await model.take(.resized(TerminalSize(of: STDOUT_FILENO)))
        await model.begin()
        await withTaskGroup { group in
            group.addTask {
                for await key in keyboard.keys { await model.take(.key(key)) }
            }
            group.addTask {
                for await _ in signals.received { await model.take(.resized(TerminalSize(of: STDOUT_FILENO))) }
                while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
            }
            group.addTask { await draw() }
            await group.next()  // the keys have ended, or the person quits
            group.cancelAll()
        }
        await keyboard.stop()
        TerminalMode.restore()
        await model.end()
        try Task.checkCancellation()
    }

    private func draw() async {
        var canvas = FilesCanvas()
        for await _ in model.changes { canvas.draw(await model.machine) }
    }
}

/// Draws the screens, with their pictures.
struct FilesCanvas {
    private var terminal = TerminalScreen()
    /// The picture that was drawn last, since it takes a while.
    private var drawn: (picture: Picture, room: TerminalSize, placed: Frame.PlacedPicture?)?

    /// Draws what a machine shows.
    mutating func draw(_ machine: FilesMachine) {
        var frame = machine.frame
        if let picture = machine.picture { frame.picture = placed(picture, machine) }
        if frame.picture != nil {
            // The words that stand for it are in the line above the keys as well.
            for row in machine.bodyTop..<(machine.bodyTop + machine.bodyRows) { frame.lines[row] = Text() }
        }
        terminal.draw(frame)
    }

    private mutating func placed(_ picture: Picture, _ machine: FilesMachine) -> Frame.PlacedPicture? {
        #if Pictures
        var room = machine.size
        room.rows = machine.bodyRows
        if let drawn, drawn.room == room, drawn.picture == picture { return drawn.placed }
        let result = PictureDrawing.draw(picture, in: room, withColors: terminal.hasStyles)
        let placed = result.map { Frame.PlacedPicture(sequence: $0.sequence, row: machine.bodyTop) }
        drawn = (picture, room, placed)
        return placed
        #else
        return nil
        #endif
    }
}
