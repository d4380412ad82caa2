// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import SystemPackage
import TestSupport
import Testing
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// What suites of the outbox share.
protocol OutboxSuite {}

extension OutboxSuite {
    func start(_ outbox: Outbox, _ handler: StubOutboxHandler) -> Task<Void, any Error> {
        Task { try await outbox.run { try await handler($0) } }
    }

    func stop(_ run: Task<Void, any Error>) async {
        run.cancel()
        _ = await run.result
    }

    func add(_ outbox: Outbox, _ key: String, _ texts: String...) async throws {
        for text in texts { try await outbox.enqueue(key: key, payload: Data(text.utf8)) }
    }

    func texts(_ handler: StubOutboxHandler, of key: String? = nil) -> [String] {
        handler.entries.filter { key == nil || $0.key == key }.map { String(decoding: $0.payload, as: UTF8.self) }
    }
}
#endif
