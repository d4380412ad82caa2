// SPDX-License-Identifier: Apache-2.0

/// The faults to simulate, for trying a client out.
struct Faults: Sendable {
    /// What happens to a request.
    enum Fault: Sendable, Hashable {
        /// It is answered.
        case none
        /// It is answered with 503.
        case fail
        /// Its connection is closed without an answer.
        case drop
    }

    /// Every how many requests one is answered with 503; nil for none.
    var failEvery: Int?
    /// Every how many requests one gets no answer; nil for none.
    var dropEvery: Int?
    /// How long each answer takes.
    var delay = Duration.zero
    private var requests = 0

    init(failEvery: Int? = nil, dropEvery: Int? = nil, delay: Duration = .zero) {
        self.failEvery = failEvery
        self.dropEvery = dropEvery
        self.delay = delay
    }

    /// What happens to the next request.
    mutating func next() -> Fault {
        requests += 1
        if let dropEvery, requests.isMultiple(of: dropEvery) { return .drop }
        if let failEvery, requests.isMultiple(of: failEvery) { return .fail }
        return .none
    }
}
