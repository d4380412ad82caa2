// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import Uplink
import UplinkTesting

/// Requests that a performer makes again because the network went in the middle of them, in network namespaces.
@Suite(.timeLimit(.minutes(2)), .undisturbed, .serialized, .needsNetworkNamespaces)
struct PerformerTransferTests {
    /// What goes under the transfer, and comes again.
    enum Loss: String, CaseIterable {
        /// The device's address and its default route.
        case address
        /// The link's carrier.
        case cable

        func begin(in network: TestNetwork) throws {
            switch self {
            case .address: try network.goOffline()
            case .cable: try network.cableOut()
            }
        }

        func end(in network: TestNetwork) throws {
            switch self {
            case .address: try network.goOnline()
            case .cable: try network.cableIn()
            }
        }
    }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

    /// Runs `body` with a server on the router, whose first answer stops in its middle, and a performer and a client on
    /// the device.
    private func withNetwork(
        _ body: (TestNetwork, RawServer, NetworkOperationPerformer, HTTPClient) async throws -> Void
    ) async throws {
        let stopping: [RawServer.Step] = [.readHead, .send("\(Self.head)he"), .waitForClose]
        let whole: [RawServer.Step] = [.readHead, .send("\(Self.head)hello"), .loop]
        try await withTestNetwork { network in
            try network.router.ip("addr add 203.0.113.1/32 dev lo")
            try await withEventLoop(networkNamespace: network.router.path) { far in
                // On that loop's thread, because what is made there belongs to the router, where nobody else is.
                let server = try await withCheckedThrowingContinuation { continuation in
                    far.execute {
                        continuation.resume(
                            with: Result { try RawServer(stopping, whole, address: "0.0.0.0", port: 8080) })
                    }
                }
                defer { server.stop() }
                try await withEventLoop(networkNamespace: network.device.path) { loop in
                    let monitor = LinuxNetworkMonitor(on: loop)
                    let performer = NetworkOperationPerformer(monitor: monitor, clock: LoopClock(on: loop))
                    var transport = CurlTransport.Configuration()
                    transport.networkChanges = monitor.changes
                    try await withHTTPClient(on: loop, transport: transport) { client in
                        try await body(network, server, performer, client)
                    }
                    monitor.stop()
                }
            }
        }
    }

    @Test(arguments: Loss.allCases)
    func aRequestWhoseNetworkGoesIsMadeAgainWhenItIsBack(_ loss: Loss) async throws {
        try await withNetwork { network, server, performer, client in
            let answers = Locked(0)
            let policy = RetryPolicy(maximumAttempts: 100, initialPause: .milliseconds(20))
            let call = Task {
                try await performer.perform(completingWithin: .seconds(60), onLoss: .retry(policy)) {
                    () async throws -> [UInt8] in
                    let response = try await client.get("http://203.0.113.1:8080/")
                    answers.withLock { $0 += 1 }
                    return try await response.collected(upTo: 5).body
                }
            }
            defer { call.cancel() }
            try await eventually("the first answer has begun") { answers.withLock { $0 } == 1 }
            try loss.begin(in: network)
            try await eventually("the request has ended and waits for the network") {
                performer.census.running == 0 && performer.census.waiting == 1
            }
            #expect(server.heads.count == 1)
            try loss.end(in: network)
            #expect(try await call.value == Array("hello".utf8))
            #expect(answers.withLock { $0 } == 2)
            #expect(server.heads.count == 2)
        }
    }
}
