// SPDX-License-Identifier: Apache-2.0
#if !Store
public import UplinkStore

// Without the trait `Store` the module has only these names, so that the compiler says what is missing.

/// A fetch that brings what the test says. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StubFetch<Value> {
    /// Exists for the compiler's message.
    @available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
    public init?(_ results: Any) { nil }
}

/// A reader of a stream that keeps what it told. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StoreRecorder<Value> {
    /// Exists for the compiler's message.
    @available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
    public init?(_ stream: Any) { nil }
}

/// A handler for an outbox that answers what the test says. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StubOutboxHandler {
    /// Exists for the compiler's message.
    @available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
    public init?(_ verdicts: Any? = nil) { nil }
}

@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
extension Store {
    /// Exists for the compiler's message.
    ///
    /// - Throws: Always.
    @available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
    public static func stubbed(
        migrator: Any? = nil, performer: Any? = nil, clock: Any? = nil, now: Any? = nil
    ) throws -> Never { throw CancellationError() }
}
#endif
