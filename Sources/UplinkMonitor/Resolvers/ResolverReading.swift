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

    /// The file was read.
    mutating func finished(_ resolvers: Resolvers) -> Action {
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
