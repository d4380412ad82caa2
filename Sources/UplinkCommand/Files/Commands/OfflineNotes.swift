// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Reports on standard error what a command did without the server, so that its output is the same as with it.
struct OfflineNotes: Sendable {
    private let stored = Locked<StoredAnswer?>(nil)
    private let write: @Sendable (String) -> Void

    init(write: @escaping @Sendable (String) -> Void = { try? Output.error.write($0) }) { self.write = write }

    /// Takes news. What came from the store is reported once, at the end, because the last answer is the one shown.
    func tell(_ news: OfflineNews) {
        switch news {
        case .stored(let answer): stored.withLock { $0 = answer }
        case .waits(let change):
            stored.withLock { $0 = nil }
            var reason = ""
            if case .waiting(let problem?) = change.state { reason = " (\(FilesOutput.printable(problem)))" }
            write("Waits to be sent: \(change.words), number \(change.id)\(reason); `uplink files sync` sends it.\n")
        case .sent(let change): write("Sent: \(change.words)\n")
        case .conflict(let change):
            write("Not sent: \(change.words), number \(change.id): \(FilesOutput.printable(change.reason ?? ""))\n")
        }
    }

    /// Reports how old the data shown is.
    func end() {
        guard let answer = stored.withLock({ $0 }) else { return }
        write(
            "As of \(Self.age(answer.age)), since the server was not reached: \(FilesOutput.printable(answer.reason))\n"
        )
    }

    /// An age for people, in the largest unit that fits.
    static func age(_ age: Duration?) -> String {
        guard let age else { return "an unknown time ago" }
        let seconds = max(0, age.components.seconds)
        for (unit, length) in [("day", 86_400), ("hour", 3600), ("minute", 60)] as [(String, Int64)]
        where seconds >= length {
            let count = seconds / length
            return "\(count) \(unit)\(count == 1 ? "" : "s") ago"
        }
        return "\(seconds) second\(seconds == 1 ? "" : "s") ago"
    }
}

extension PendingChange {
    /// What it is, for people.
    var words: String {
        let path = FilesOutput.printable(path.description)
        return switch kind {
        case .upload: "upload of \(path)"
        case .newFolder: "new folder \(path)"
        case .deletion: "deletion of \(path)"
        }
    }

    /// Why it is in conflict, or why the last attempt failed.
    var reason: String? {
        switch state {
        case .waiting(let problem): problem
        case .sending: nil
        case .conflict(let reason): reason
        }
    }

    /// Its state, in one word.
    var stateWord: String {
        switch state {
        case .waiting: "waiting"
        case .sending: "sending"
        case .conflict: "conflict"
        }
    }
}
