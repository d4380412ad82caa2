// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Decides when the resolver's file is read and when its name servers are reported: the state machine of
/// ``ResolverFile``.
struct ResolverReading {
    typealias Resolvers = [DNSConfiguration.Resolver]

    /// What happens to the file.
    enum State: Equatable {
        /// Nothing.
        case resting
        /// It is being read.
        case reading
        /// It is being read, and has changed since that began.
        case readingOldText
    }

    /// What to do.
    enum Action: Equatable {
        /// Nothing.
        case none
        /// Read the file; then call `finished`.
        case read
        /// Report these name servers.
        case tell(Resolvers)
    }

    private(set) var state = State.resting
    private var told: Resolvers?
    /// The names that events about the file have; empty before they are known, when every event counts.
    private var names: Set<String> = []
    /// The names in the events since the reading under way began, which may find other names than those of before.
    private var early: Set<String> = []

    /// The file must be read for the first time, or has changed.
    mutating func changed() -> Action {
        switch state {
        case .resting:
            state = .reading
            return .read
        case .reading, .readingOldText:
            state = .readingOldText
            return .none
        }
    }

    /// Something happened to what has these names, or to a watched object itself (an empty name).
    mutating func happened(to events: Set<String>) -> Action {
        switch state {
        case .resting: return concerns(events) ? changed() : .none
        case .reading, .readingOldText:
            early.formUnion(events)
            return .none
        }
    }

    private func concerns(_ events: Set<String>) -> Bool {
        events.contains { names.isEmpty || $0.isEmpty || names.contains($0) }
    }

    /// The file was read.
    ///
    /// - Parameter names: The names that events about it have now; nil if they are not known anew.
    mutating func finished(_ resolvers: Resolvers, names: Set<String>? = nil) -> Action {
        if let names { self.names = names }
        if concerns(early) { state = .readingOldText }
        early = []
        switch state {
        case .readingOldText:
            state = .reading
            return .read
        case .resting, .reading:
            state = .resting
            return tell(resolvers)
        }
    }

    /// Reading takes too long: nobody should wait for it any more.
    mutating func timeIsUp() -> Action { told == nil ? tell([]) : .none }

    private mutating func tell(_ resolvers: Resolvers) -> Action {
        if told == resolvers { return .none }
        told = resolvers
        return .tell(resolvers)
    }
}
