// SPDX-License-Identifier: Apache-2.0
#if Store
/// What was not taken yet by who reads a stream, in order: pure.
///
/// All of it, up to a limit; beyond it an element takes the place of those of its kind. So a reader that is very slow
/// misses values and errors that others followed, and never the last of them, and what waits has a bounded size.
struct ElementQueue<Value: Sendable> {
    static var limit: Int { 16 }

    private var elements: [StoreElement<Value>] = []

    mutating func append(_ element: StoreElement<Value>) {
        if elements.count >= Self.limit {
            let kind = Self.kind(of: element)
            elements.removeAll { Self.kind(of: $0) == kind }
        }
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
