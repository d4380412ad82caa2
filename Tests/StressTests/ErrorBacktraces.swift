// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the testing library remembers of errors: a backtrace for each that is thrown, until the test is over. A storm
/// throws some hundred thousand, and what is held for them grows with it.
struct ErrorBacktraces {
    /// The runtime's hooks for errors that are thrown, which the testing library sets.
    private static let names = ["_swift_willThrow", "_swift_willThrowTypedImpl"]

    private let hooks: [(place: UnsafeMutablePointer<UnsafeRawPointer?>, hook: UnsafeRawPointer?)]

    /// Has no more of them remembered.
    static func stop() -> Self {
        let places = names.compactMap { dlsym(nil, $0)?.assumingMemoryBound(to: UnsafeRawPointer?.self) }
        let hooks = places.map { (place: $0, hook: $0.pointee) }
        for place in places { place.pointee = nil }
        return Self(hooks: hooks)
    }

    /// As it was.
    func resume() { for (place, hook) in hooks { place.pointee = hook } }
}
