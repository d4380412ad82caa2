// SPDX-License-Identifier: Apache-2.0
#if !Store
// Without the trait `Store` the module has only these names, so that the compiler says what is missing.

/// A single source of truth that works offline. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum Store {
    /// Exists so that the error for a call names the trait, and not a missing function. Nothing can call it.
    ///
    /// - Throws: Always.
    @available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
    public static func open(
        _ path: String, migrator: Any? = nil, performer: Any? = nil, busyTimeout: Duration = .zero,
        checksIntegrity: Bool = true, clock: Any? = nil, now: Any? = nil
    ) async throws -> Never { throw CancellationError() }

    /// Exists for the compiler's message, as ``open(_:migrator:performer:busyTimeout:checksIntegrity:clock:now:)``.
    ///
    /// - Throws: Always.
    @available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
    public static func inMemory(
        migrator: Any? = nil, performer: Any? = nil, clock: Any? = nil, now: Any? = nil
    ) throws -> Never { throw CancellationError() }
}

/// A query of the database whose result is observed. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StoreQuery<Value> {
    /// Exists for the compiler's message.
    @available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
    public init?(_ name: String, fetch: @escaping @Sendable (Any) throws -> Value) { nil }
}

/// How a key's data is brought up to date. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StoreSync {}

/// The results of a query, and how syncing goes. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StoreStream<Value> {}

/// An element of a stream. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StoreElement<Value> {}

/// What a stream shows first, and whether it syncs. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StoreRequest {}

/// What the store throws. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StoreError {}

/// A durable queue of what is to be sent. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum Outbox {
    /// Exists for the compiler's message.
    @available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
    public init?(_ store: Any, name: String = "", configuration: Any? = nil) { nil }
}

/// The limits of an outbox. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum OutboxConfiguration {}

/// What is to be sent. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum OutboxEntry {}

/// What became of an entry. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum OutboxVerdict {}
#endif
