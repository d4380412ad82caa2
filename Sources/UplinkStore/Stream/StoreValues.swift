// SPDX-License-Identifier: Apache-2.0
#if Store
/// The values of a stream, whose errors go to a handler; see ``StoreStream/handlingErrors(_:)``.
public struct StoreValues<Value: Equatable & Sendable>: AsyncSequence, Sendable {
    /// The query's answers.
    public typealias Element = Value
    /// The sequence does not throw.
    public typealias Failure = Never

    let stream: StoreStream<Value>
    let handler: @Sendable (StoreError) async -> Void

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), handler: handler) }

    /// A subscription.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: StoreStream<Value>.Iterator
        fileprivate let handler: @Sendable (StoreError) async -> Void

        /// Returns the next value; nil when the task is cancelled. Errors that come before the value are handled in
        /// this call.
        public mutating func next() async -> Value? {
            while let element = await base.next() {
                switch element {
                case .value(let value, _): return value
                case .error(let error): await handler(error)
                case .waiting, .loading, .noNews: break
                }
            }
            return nil
        }
    }
}

extension StoreStream {
    /// Only the values; errors go to a handler, and the subscription goes on.
    ///
    /// ```swift
    /// for await notes in stream.handlingErrors({ print("not refreshed: \($0)") }) { show(notes) }
    /// ```
    ///
    /// - Parameter handler: Called with each error, in the task that iterates, between values.
    public func handlingErrors(_ handler: @escaping @Sendable (StoreError) async -> Void) -> StoreValues<Value> {
        StoreValues(stream: self, handler: handler)
    }

    /// Only the values; errors are ignored.
    public var values: StoreValues<Value> { handlingErrors { _ in } }
}
#endif
