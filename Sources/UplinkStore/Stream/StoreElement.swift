// SPDX-License-Identifier: Apache-2.0
#if Store
/// An element of a stream of the store.
public enum StoreElement<Value: Sendable>: Sendable {
    /// A sync waits for the network, which is not there or not as required; the stored data stays readable.
    case waiting
    /// A sync is fetching and writing.
    case loading
    /// The query's answer, as it is in the database.
    case value(Value, StoreOrigin)
    /// A sync succeeded, and the query's answer is still the one shown last.
    case noNews(StoreOrigin)
    /// Reading or syncing failed. The stream goes on.
    case error(StoreError)

    /// The value, if this is one.
    public var value: Value? {
        if case .value(let value, _) = self { value } else { nil }
    }

    /// The error, if this is one.
    public var error: StoreError? {
        if case .error(let error) = self { error } else { nil }
    }
}
#endif
