// SPDX-License-Identifier: Apache-2.0
#if Store
/// What was not taken yet by who reads a stream: the newest of each kind, in order: pure.
///
/// A reader that is slow misses values and errors that others followed, and never the last of them; so a stream that
/// nobody reads has a bounded size.
struct ElementQueue<Value: Sendable> {
    private var elements: [StoreElement<Value>] = []

    mutating func append(_ element: StoreElement<Value>) {
        let kind = Self.kind(of: element)
        elements.removeAll { Self.kind(of: $0) == kind }
        elements.append(element)
    }

    var isEmpty: Bool { elements.isEmpty }

    mutating func popFirst() -> StoreElement<Value>? { elements.isEmpty ? nil : elements.removeFirst() }

    private enum Kind: Equatable { case progress, value, noNews, error(StoreError.Code) }

    private static func kind(of element: StoreElement<Value>) -> Kind {
        switch element {
        case .waiting, .loading: .progress
        case .value: .value
        case .noNews: .noNews
        case .error(let error): .error(error.code)
        }
    }
}
#endif
