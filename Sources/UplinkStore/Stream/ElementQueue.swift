// SPDX-License-Identifier: Apache-2.0
#if Store
/// The elements of a stream that its reader has not taken yet, in order: pure.
///
/// Up to a limit all are kept; beyond it, a new element replaces those of its kind. So a very slow reader misses values
/// and errors that were followed by others, but never the last of them, and the size of the queue is bounded.
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
