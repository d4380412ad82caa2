// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UplinkStore
import UplinkStoreTesting
import UplinkTesting

@testable import notes

@Suite(.timeLimit(.minutes(1)))
struct NotesTests {
    @Test func aNoteIsWrittenWithWhatIsToBeSentOfIt() async throws {
        let store = try Store.stubbed(migrator: Notes.migrator)
        let outbox = try Outbox(store)
        try await Notes.add("milk", to: store, outbox)
        let handler = StubOutboxHandler()
        let run = Task { try await outbox.run { try await handler($0) } }
        try await eventually { try await outbox.entries().isEmpty }
        #expect(handler.entries.map(\.kind) == ["add"])
        run.cancel()
        _ = await run.result
    }
}
