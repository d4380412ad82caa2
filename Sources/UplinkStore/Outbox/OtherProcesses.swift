// SPDX-License-Identifier: Apache-2.0
#if Store
/// When a run of an outbox looks for entries that other processes have added, of which SQLite does not tell: each time
/// it has sent something and has nothing else to send, but at most once a second, because it reads the first entries of
/// all keys, and many may rest.
struct OtherProcesses {
    enum Answer: Equatable {
        case no
        case later(Duration)
        case now
    }

    private static let pause = Duration.seconds(1)

    /// Whether something has been sent or added since they were last looked for.
    var mayHaveAdded = false
    private var next: Duration?

    /// Asked when there is nothing else to send; `now` counts as looked for.
    mutating func isToBeLookedFor(now: Duration) -> Answer {
        guard mayHaveAdded else { return .no }
        if let next, now < next { return .later(next) }
        (mayHaveAdded, next) = (false, now + Self.pause)
        return .now
    }
}
#endif
