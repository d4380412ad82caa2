// SPDX-License-Identifier: Apache-2.0

/// A value of one word, whose copies share their content until one of them is changed.
///
/// For values that are large and often copied, or that need room in many places, and that hardly ever change.
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
    /// The value's own, so that it shows when its owner is printed.
    var debugDescription: String { String(reflecting: value) }
}
