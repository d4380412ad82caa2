// SPDX-License-Identifier: Apache-2.0

/// Which token to send, and when to ask for another: pure.
struct TokenMachine: Sendable {
    /// What is known.
    enum Phase: Sendable, Equatable {
        /// Nothing yet.
        case none
        /// A token that no server has refused.
        case valid(String)
        /// A token that a server refused.
        case refused(String)
    }

    /// What to do.
    enum Action: Sendable, Equatable {
        /// Send this token.
        case use(String)
        /// Ask the provider, in common with all who have to, and say which token was refused.
        case ask(refused: String?)
    }

    /// What becomes of the decision to ask, when it is about to be carried out.
    enum Turn: Sendable, Equatable {
        /// Ask the provider.
        case ask
        /// Another one's answer has come since: send this token.
        case use(String)
        /// It has come, and was refused as well: whoever waits decides anew, and asks in place of that one.
        case decideAnew
    }

    private(set) var phase = Phase.none

    /// A request needs a token, and not this one, which was refused.
    mutating func token(insteadOf refused: String?) -> Action {
        switch phase {
        case .none: return .ask(refused: nil)
        case .valid(let token):
            guard token == refused else { return .use(token) }  // somebody else has asked meanwhile
            phase = .refused(token)
            return .ask(refused: token)
        case .refused(let token): return .ask(refused: token)
        }
    }

    /// Somebody is about to ask the provider, as ``token(insteadOf:)`` said some time ago.
    mutating func turn(toAskInsteadOf refused: String?) -> Turn {
        switch token(insteadOf: refused) {
        case .use(let token): .use(token)
        case .ask(let other): other == refused ? .ask : .decideAnew
        }
    }

    /// The provider has given a token. One that is known to be refused stays so.
    mutating func received(_ token: String) {
        guard phase != .refused(token) else { return }
        phase = .valid(token)
    }

    /// A server refused a token, and the request cannot be sent again.
    mutating func wasRefused(_ token: String) {
        if phase == .valid(token) { phase = .refused(token) }
    }
}
