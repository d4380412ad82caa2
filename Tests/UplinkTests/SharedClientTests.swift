// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import Uplink

@Suite(.timeLimit(.minutes(1)))
struct SharedClientTests {
    private func withServer(_ script: [RawServer.Step], _ body: (RawServer) async throws -> Void) async throws {
        let server = try RawServer(script)
        defer { server.stop() }
        try await body(server)
    }

    private let answer = RawServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    @Test func theSharedClientNeedsNoScope() async throws {
        try await withServer([.readHead, answer, .loop]) { server in
            for _ in 0..<2 {
                let response = try await HTTPClient.shared.get(server.url()).collected(upTo: 5)
                #expect(response.body == Array("hello".utf8))
            }
            #expect(server.connections.count == 1)
        }
    }

    @Test func theClosureFormWorksOverARealConnection() async throws {
        try await withServer([.readHead, answer, .loop]) { server in
            let response = try await withCheckedThrowingContinuation { continuation in
                HTTPClient.shared.get(from: server.url()) { continuation.resume(with: $0) }
            }
            #expect(response.body == Array("hello".utf8))
        }
    }

    @Test func theClosureFormsHandleCancelsAndTheServerSeesIt() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            let outcome = Locked<Result<HTTPCollectedResponse, any Error>?>(nil)
            let task = HTTPClient.shared.get(from: server.url()) { result in outcome.withLock { $0 = result } }
            try await eventually { server.heads.count == 1 }
            task.cancel()
            try await eventually { outcome.withLock { $0 != nil } }
            #expect(throws: CancellationError.self) { try outcome.withLock { $0 }?.get() }
            try await eventually { server.connections.first?.closedAt != nil }
        }
    }

    @Test func aForgottenClientClosesItsConnections() async throws {
        try await withServer([.readHead, answer, .waitForClose]) { server in
            do {
                let client = try HTTPClient(on: .shared)
                _ = try await client.get(server.url()).collected(upTo: 5)
                #expect(server.connections.first?.closedAt == nil)
            }
            try await eventually { server.connections.first?.closedAt != nil }
        }
    }

    @Test func drainingWaitsForWhatRunsCancellingDoesNot() async throws {
        let script: [RawServer.Step] = [.readHead, .pause(.milliseconds(300)), answer]
        try await withServer(script) { server in
            let task = try await withHTTPClient(ending: .draining) { client in
                let task = Task { try await client.get(server.url()).collected(upTo: 5) }
                try await eventually { server.heads.count == 1 }
                return task
            }
            #expect(try await task.value.body == Array("hello".utf8))
        }
        try await withServer([.readHead, .waitForClose]) { server in
            let task = try await withHTTPClient { client in
                let task = Task { try await client.get(server.url()).collected(upTo: 5) }
                try await eventually { server.heads.count == 1 }
                return task
            }
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }

    @Test func cancellingHurriesADrain() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            let scope = Task {
                try await withHTTPClient(ending: .draining) { client in
                    let task = Task { try await client.get(server.url()).status }
                    try await eventually { server.heads.count == 1 }
                    return task
                }
            }
            try await eventually { server.heads.count == 1 }
            scope.cancel()
            let task = try? await scope.value
            if let task { await #expect(throws: CancellationError.self) { _ = try await task.value } }
            try await eventually { server.connections.first?.closedAt != nil }
        }
    }
}
