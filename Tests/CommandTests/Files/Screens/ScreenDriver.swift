// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// The screens in the hands of a test: what is pressed, what jobs come to, and what is seen.
struct ScreenDriver {
    static let user = User(firstName: "Ada", lastName: "Lovelace", root: anItem(0, "", folder: true, in: nil))
    static let fields = LoginFields(server: "https://files.example", user: "me", password: "se:cret")

    var machine: FilesMachine
    /// All that was to be done so far.
    private(set) var effects: [FilesEffect] = []

    init(_ fields: LoginFields = LoginFields(), columns: Int = 80, rows: Int = 24) {
        machine = FilesMachine(fields, size: TerminalSize(columns: columns, rows: rows))
        effects = machine.begin()
    }

    /// Somebody who is logged in, in a root with these items.
    static func inRoot(_ items: [Item], columns: Int = 80, rows: Int = 24) -> Self {
        var driver = Self(fields, columns: columns, rows: rows)
        driver.succeed(.loggedIn(user, note: nil))
        driver.list(items)
        return driver
    }

    /// The job that was started last.
    var job: FilesJob? {
        for case .start(_, let job) in effects.reversed() { return job }
        return nil
    }

    /// The job that is going on.
    var running: FilesJob? { machine.work?.job }

    mutating func take(_ event: FilesEvent) { effects += machine.take(event) }
    mutating func press(_ keys: Key...) { for key in keys { take(.key(key)) } }
    mutating func type(_ text: String) { for character in text { press(.character(character)) } }

    /// What is going on comes to this.
    mutating func succeed(_ result: FilesResult) { if let id = machine.work?.id { take(.ended(id, .success(result))) } }
    mutating func fail(_ message: String) { fail(FilesFailure(message: message)) }
    mutating func fail(_ failure: FilesFailure) { if let id = machine.work?.id { take(.ended(id, .failure(failure))) } }
    mutating func list(_ items: [Item], malformed: Int = 0) {
        succeed(.listing(Listing(items: items, malformed: malformed)))
    }

    /// The lines that are seen.
    var lines: [String] { machine.frame.lines.map(\.plain) }
    var screen: String { lines.joined(separator: "\n") }
    var help: String { lines.last ?? "" }
    var status: String { machine.status.lines.map(\.plain).joined(separator: "\n") }
    var chosen: String? { machine.list?.chosen?.name }

    /// Expects that the screen fits the terminal.
    func expectFit(sourceLocation: SourceLocation = #_sourceLocation) {
        let (frame, size) = (machine.frame, machine.size)
        #expect(frame.lines.count <= max(4, size.rows), sourceLocation: sourceLocation)
        for line in frame.lines {
            #expect(line.width <= size.columns, "\(line.plain)", sourceLocation: sourceLocation)
            #expect(!line.plain.contains("\n"), sourceLocation: sourceLocation)
        }
    }
}
