// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP
import UplinkMonitor
import UplinkTesting

@testable import Uplink
@testable import UplinkCore

/// That clients on the shared loop renew their connections by the word of the shared monitor, without being told to.
@Suite(.timeLimit(.minutes(1)))
struct HearingOfChangesTests {
    /// Whoever tells what the shared monitor finds; here the test as well.
    private var monitor: NetworkChangeBroadcaster { LinuxNetworkMonitor.shared.changes.broadcaster }

    // MARK: What a configuration becomes

    @Test func onTheSharedLoopTheSharedMonitorIsHeard() throws {
        let configuration = CurlTransport.Configuration().hearingOfChanges(on: EventLoop.shared)
        let changes = try #require(configuration.networkChanges)
        #expect(changes.broadcaster === monitor)
    }

    @Test func onAnotherLoopNobodyIsHeard() async throws {
        let hears = try await withEventLoop { loop in
            CurlTransport.Configuration().hearingOfChanges(on: loop).networkChanges != nil
        }
        #expect(!hears)
    }

    @Test func whoeverWasChosenIsHeard() async throws {
        let own = StubNetworkChanges()
        var configuration = CurlTransport.Configuration()
        configuration.networkChanges = own.changes
        let changes = try #require(configuration.hearingOfChanges(on: EventLoop.shared).networkChanges)
        #expect(changes.broadcaster === own.changes.broadcaster)
    }

    // MARK: What clients do

    /// A transfer from an address that no other one has ends when the shared monitor tells that the address is gone.
    private func expectHearing(_ client: HTTPClient, from address: IPAddress, _ server: RawServer) async throws {
        let url = server.url()
        let transfer = Task { try await client.get(url).collected(upTo: 100) }
        defer { transfer.cancel() }
        let hasEnded = Locked(false)
        Task {
            _ = await transfer.result
            hasEnded.withLock { $0 = true }
        }
        try await eventually("the request has been sent") { server.heads.count == 1 }
        let (monitor, change) = (monitor, NetworkChange(removedAddresses: [address]))
        try await eventually("the change has been heard") {
            monitor.send(change)  // once more, because the client may have begun to listen behind the last one
            return hasEnded.withLock { $0 }
        }
        let error = await #expect(throws: HTTPClientError.self) { _ = try await transfer.value }
        #expect(error?.code == .networkChanged)
    }

    private func withServer(
        from address: String, _ body: (RawServer, IPAddress, CurlTransport.Configuration) async throws -> Void
    ) async throws {
        let server = try RawServer([.readHead, .send("HTTP/1.1 200 OK\r\n\r\nabc"), .waitForClose])
        defer { server.stop() }
        let address = try #require(IPAddress(address))
        var transport = CurlTransport.Configuration()
        transport.localEnd = .address(address)
        try await body(server, address, transport)
    }

    @Test func aClientWithoutAScopeHears() async throws {
        try await withServer(from: "127.77.0.8") { server, address, transport in
            let client = try HTTPClient(on: .shared, transport: transport)
            try await expectHearing(client, from: address, server)
        }
    }

    @Test func aClientInItsScopeHears() async throws {
        try await withServer(from: "127.77.0.9") { server, address, transport in
            try await withHTTPClient(transport: transport) { client in
                try await expectHearing(client, from: address, server)
            }
        }
    }
}
