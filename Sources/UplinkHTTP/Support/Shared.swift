// SPDX-License-Identifier: Apache-2.0

/// A value of one word: its copies share what it holds until one of them is changed.
///
/// For what is large and copied often, or for which room is kept in many places, and which hardly ever changes.
struct Shared<Value: Sendable>: Sendable {
    private final class Home: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private var home: Home

    init(_ value: Value) { home = Home(value) }

    var value: Value {
        get { home.value }
        set { home = Home(newValue) }
    }
}

extension Shared: Equatable where Value: Equatable {
    static func == (one: Self, other: Self) -> Bool { one.home === other.home || one.value == other.value }
}

extension Shared: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

extension Shared: CustomDebugStringConvertible {
    /// The value's, so that what holds it is printed with it.
    var debugDescription: String { String(reflecting: value) }
}
