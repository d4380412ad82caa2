// SPDX-License-Identifier: Apache-2.0

@testable import UplinkCore
@testable import UplinkHTTP

/// Requests that need a token: `TokenMachine` and `SharedWorkMachine` with a server whose tokens lose their worth, and
/// a provider that are models. What was decided is carried out later, when it may not be right any more.
final class TokenWorld: World {
    private typealias Sharing = SharedWorkMachine<String?, String?, Int, Int>

    private final class Request {
        enum Stage {
            /// It is about to find out what to send in place of this.
            case needs(String?)
            /// It was told to ask, and has not joined those who do.
            case decided(insteadOf: String?, ask: String?)
            case waits(insteadOf: String?, Sharing.Place)
            case sent(String)
            case over
        }
        let number: Int
        let isSpent: Bool
        var stage = Stage.needs(nil)
        var sent: [String] = []
        /// What it met with that it could not do anything about.
        var isExcused = false
        init(_ number: Int, isSpent: Bool) { (self.number, self.isSpent) = (number, isSpent) }
        var isOver: Bool { if case .over = stage { true } else { false } }
    }

    /// Somebody asks for all who want it.
    private final class Asking {
        enum Stage { case begins, runs, over }
        let refused: String?
        let place: Sharing.Place
        var stage = Stage.begins
        var isCancelled = false
        /// What the provider will say.
        var token = ""
        init(_ refused: String?, _ place: Sharing.Place) { (self.refused, self.place) = (refused, place) }
    }

    let dice: Dice
    private var tokens = TokenMachine()
    private var sharing = Sharing()
    private var requests: [Request] = []
    private var askings: [Asking] = []
    /// What the server takes, and what the provider has kept.
    private var (version, kept) = (1, "t1")
    /// What the provider has given in place of what.
    private var answered: [String?: String] = [:]

    init(_ dice: Dice) { self.dice = dice }

    private var good: String { "t\(version)" }

    // MARK: What happens

    func step() throws {
        switch dice.roll(12) {
        case 0, 1: if requests.count < 15 { requests.append(Request(requests.count, isSpent: dice.isOne(in: 6))) }
        case 2: if dice.isOne(in: 3) { changeToken() }
        case 3: if !requests.isEmpty, dice.isOne(in: 3) { try cancel(dice.pick(requests)) }
        case 4, 5, 6: if !askings.isEmpty { try goOn(dice.pick(askings), mayFail: true) }
        default: if !requests.isEmpty { try goOn(dice.pick(requests)) }
        }
    }

    private func changeToken() {
        version += 1
        dice.tell("the server takes \(good)")
        for request in requests { request.isExcused = true }
    }

    private func goOn(_ request: Request) throws {
        switch request.stage {
        case .needs(let refused):
            switch tokens.token(insteadOf: refused) {
            case .use(let token): try send(token, of: request)
            case .ask(let asked): request.stage = .decided(insteadOf: refused, ask: asked)
            }
        case .decided(let refused, let asked):
            let (place, isFirst) = sharing.join(asked)
            _ = sharing.park(place, request.number)
            if isFirst { askings.append(Asking(asked, place)) }
            request.stage = .waits(insteadOf: refused, place)
        case .sent(let token): try answer(request, token)
        case .waits, .over: break
        }
    }

    private func send(_ token: String, of request: Request) throws {
        guard token != request.sent.last else { return try fail(request) }  // the same again
        dice.tell("request \(request.number) is sent with \(token)")
        request.sent.append(token)
        request.stage = .sent(token)
        try hold(request.sent.count <= 2, "request \(request.number) is sent with \(request.sent)")
    }

    private func answer(_ request: Request, _ token: String) throws {
        guard token != good else { return request.stage = .over }
        dice.tell("request \(request.number) is refused")
        if request.isSpent || request.sent.count > 1 {
            tokens.wasRefused(token)
            try hold(tokens.phase != .valid(token), "\(token) was refused, and is sent again")
            try fail(request)
        } else {
            request.stage = .needs(token)
        }
    }

    private func fail(_ request: Request) throws {
        request.stage = .over
        let isRight = request.isExcused || request.isSpent
        try hold(isRight, "request \(request.number) fails with \(request.sent), and nothing has happened")
    }

    /// The caller goes; who asks for nobody is cancelled.
    private func cancel(_ request: Request) throws {
        guard case .waits(_, let place) = request.stage else { return }
        dice.tell("request \(request.number) is cancelled")
        request.stage = .over
        _ = sharing.leave(place)
        let isWanted = requests.contains { other in
            if case .waits(_, let seat) = other.stage { seat.work == place.work } else { false }
        }
        if !isWanted { askings.first { $0.place.work == place.work }?.isCancelled = true }
    }

    // MARK: The provider

    private func goOn(_ asking: Asking, mayFail: Bool) throws {
        switch asking.stage {
        case .over: break
        case .begins where asking.isCancelled: try end(asking, .failure(Violation("cancelled")))
        case .begins:
            switch tokens.turn(toAskInsteadOf: asking.refused) {
            case .use(let token): try end(asking, .success(token))
            case .decideAnew: try end(asking, .success(nil))
            case .ask:
                dice.tell("the provider is asked in place of \(asking.refused ?? "-")")
                let isAsked = askings.contains { $0.stage == .runs && !$0.isCancelled && $0.refused == asking.refused }
                try hold(!isAsked, "the provider is asked twice at once in place of \(asking.refused ?? "-")")
                let known = answered[asking.refused]
                try hold(known == nil, "the provider is asked again in place of \(asking.refused ?? "-")")
                // As providers are written: what was kept is given until it is refused.
                if asking.refused == nil || asking.refused == kept { kept = good }
                (asking.stage, asking.token) = (.runs, kept)
            }
        case .runs:
            if mayFail, dice.isOne(in: 6) { return try end(asking, .failure(Violation("the provider failed"))) }
            // Some give what was just refused.
            let token = mayFail && dice.isOne(in: 8) ? asking.refused ?? asking.token : asking.token
            dice.tell("the provider gives \(token)")
            answered[asking.refused] = token
            answered[token] = nil
            if token != good { for request in requests { request.isExcused = true } }
            let isKnown = tokens.phase == .refused(token)
            tokens.received(token)
            try hold(!isKnown || tokens.phase == .refused(token), "\(token) was refused, and is given again")
            try end(asking, .success(token))
        }
    }

    private func end(_ asking: Asking, _ result: Result<String?, any Error>) throws {
        asking.stage = .over
        for waiter in sharing.finished(asking.place, result) {
            let request = requests[waiter]
            guard case .waits(let refused, let place) = request.stage else { throw Violation("nobody waits") }
            switch sharing.take(place) {
            case .success(let token?): try send(token, of: request)
            case .success(nil): request.stage = .needs(refused)
            case .failure: request.stage = .over
            case nil: throw Violation("request \(waiter) gets nothing")
            }
        }
    }

    // MARK: What holds

    func check() throws {
        for request in requests {
            guard case .waits(_, let place) = request.stage else { continue }
            let isAsked = askings.contains { $0.place.work == place.work && $0.stage != .over && !$0.isCancelled }
            try hold(isAsked, "request \(request.number) waits, and nobody asks")
        }
    }

    func end() throws {
        for _ in 0..<2 {
            requests.append(Request(requests.count, isSpent: false))
            for _ in 0..<500 {
                let isDone = requests.allSatisfy { $0.isOver } && askings.allSatisfy { $0.stage == .over }
                if isDone { break }
                for asking in askings where asking.stage != .over { try goOn(asking, mayFail: false) }
                for request in requests { try goOn(request) }
                try check()
            }
        }
        for request in requests { try hold(request.isOver, "request \(request.number) never ends") }
        try hold(sharing.isEmpty, "\(sharing) is left")
        // All is well now, and nobody has anything to complain of.
        try hold(requests.last?.sent == [good], "the last request was sent with \(requests.last?.sent ?? [])")
    }
}
