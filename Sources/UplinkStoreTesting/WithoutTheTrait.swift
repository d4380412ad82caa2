// SPDX-License-Identifier: Apache-2.0
#if !Store
// Without the trait `Store` the module has only these names, so that the compiler says what is missing.

/// A fetch that brings what the test says. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StubFetch<Value> {}

/// A reader of a stream that keeps what it told. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StoreRecorder<Value> {}

/// A handler for an outbox that answers what the test says. Behind the package trait `Store`.
@available(*, unavailable, message: "needs `.package(…, traits: [\"Store\"])` where the dependency on uplink is")
public enum StubOutboxHandler {}
#endif
