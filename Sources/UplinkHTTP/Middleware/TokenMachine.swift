// SPDX-License-Identifier: Apache-2.0

/// Which token to send, and when to ask for another: pure.
struct TokenMachine: Sendable {
    /// What is known about the token.
    enum Phase: Sendable, Equatable {
        /// Nothing yet.
        case none
        /// A token that no server has refused, at least not since one last accepted it.
        case valid(String)
        /// A token that a server refused.
        case refused(String)
    }

    /// What to do.
    enum Action: Sendable, Equatable {
        /// Send this token.
        case use(String)
        /// Ask the provider, together with all others that have to, and say which token was refused.
        case ask(refused: String?)
    }

    /// What to do with the decision to ask when it is about to be carried out.
    enum Turn: Sendable, Equatable {
        /// Ask the provider.
        case ask
        /// Another request has got a token since: send this one.
        case use(String)
        /// It got one, which was refused as well: the waiting requests decide again, and ask in place of that token.
        case decideAnew
    }

    private(set) var phase = Phase.none

    /// A request needs a token other than this one, which was refused.
    mutating func token(insteadOf refused: String?) -> Action {
        switch phase {
        case .none: return .ask(refused: nil)
        case .valid(let token):
            guard token == refused else { return .use(token) }  // another request has got a token meanwhile
            phase = .refused(token)
            return .ask(refused: token)
        case .refused(let token): return .ask(refused: token)
        }
    }

    /// A request is about to ask the provider, as ``token(insteadOf:)`` said some time ago.
    mutating func turn(toAskInsteadOf refused: String?) -> Turn {
        switch token(insteadOf: refused) {
        case .use(let token): .use(token)
        case .ask(let other): other == refused ? .ask : .decideAnew
        }
    }

    /// The provider has returned a token. One that is known to be refused remains so.
    mutating func received(_ token: String) {
        guard phase != .refused(token) else { return }
        phase = .valid(token)
    }

    /// A server accepted a token. Whoever refused it did so for a reason of its own.
    mutating func wasAccepted(_ token: String) {
        if phase == .refused(token) { phase = .valid(token) }
    }

    /// A server refused a token, and the request cannot be sent again.
    mutating func wasRefused(_ token: String) {
        if phase == .valid(token) { phase = .refused(token) }
    }
}
