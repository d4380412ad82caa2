// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkHTTP

/// The rules for which request gets which answer: pure. The rule set last comes first.
struct StubRules: Sendable {
    /// The requests that a rule is for.
    enum Pattern: Sendable {
        /// Those for a URL in its normal form, with any method if none is given.
        case url(String, HTTPRequest.Method?)
        /// Those for which a closure returns true.
        case predicate(String, @Sendable (HTTPTransportRequest) -> Bool)

        func matches(_ request: HTTPTransportRequest) -> Bool {
            switch self {
            case .url(let url, let method):
                url == request.url && method ?? request.head.method == request.head.method
            case .predicate(_, let isMatch): isMatch(request)
            }
        }

        var description: String {
            switch self {
            case .url(let url, let method): method.map { "\($0.rawValue) \(url)" } ?? url
            case .predicate(let name, _): name
            }
        }

        /// Whether a rule for this replaces one for the other.
        func replaces(_ other: Self) -> Bool {
            switch (self, other) {
            case (.url(let url, let method), .url(let otherURL, let otherMethod)):
                url == otherURL && method == otherMethod
            case (.predicate, _), (.url, .predicate): false
            }
        }
    }

    /// A pattern with its answers.
    struct Rule: Sendable {
        let id: Int
        let pattern: Pattern
        let answers: [@Sendable (HTTPTransportRequest) async -> StubTransport.Answer]
        /// Whether the last answer is also for all requests that follow.
        let repeatsLast: Bool
        var uses = 0
    }

    /// A URL as a client's request has it: with its slash, and without its fragment and the scheme's own port. What is
    /// no URL stays as it is.
    static func normalForm(of url: String) -> String {
        (try? HTTPRequest(parsing: url)).map { HTTPTransportRequest(head: $0).url } ?? url
    }

    private(set) var rules: [Rule] = []
    private var lastID = 0

    mutating func add(
        _ pattern: Pattern, repeatsLast: Bool,
        _ answers: [@Sendable (HTTPTransportRequest) async -> StubTransport.Answer]
    ) {
        if repeatsLast { rules.removeAll { pattern.replaces($0.pattern) } }
        lastID += 1
        rules.insert(Rule(id: lastID, pattern: pattern, answers: answers, repeatsLast: repeatsLast), at: 0)
    }

    /// Takes the next answer of a rule; nil when it has no more.
    mutating func use(_ id: Int) -> (@Sendable (HTTPTransportRequest) async -> StubTransport.Answer)? {
        guard let place = rules.firstIndex(where: { $0.id == id }) else { return nil }
        let rule = rules[place]
        guard rule.uses < rule.answers.count || (rule.repeatsLast && !rule.answers.isEmpty) else { return nil }
        rules[place].uses += 1
        return rule.answers[min(rule.uses, rule.answers.count - 1)]
    }

    /// The rules with answers that were never used, in the order in which they were set.
    var unused: [String] {
        rules.reversed().filter { $0.uses < $0.answers.count }.map { rule in
            rule.uses == 0
                ? rule.pattern.description
                : "\(rule.pattern.description): \(rule.uses) of \(rule.answers.count) answers were used"
        }
    }
}
