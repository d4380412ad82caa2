// SPDX-License-Identifier: Apache-2.0

/// A place where work that may block (files) holds nobody up.
package protocol BlockingWork: Sendable {
    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result
}

/// Blocks the caller: for tests, and for transports without a loop.
struct InlineWork: BlockingWork {
    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try work()
    }
}
