// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP
import UplinkMonitor
import UplinkTesting

/// A network that really changes under real connections, in namespaces: the client on the device, the server on the
/// router, the monitor and the client on one loop.
@Suite(.timeLimit(.minutes(2)), .undisturbed, .serialized, .needsNetworkNamespaces)
struct NetworkChangeScenarios {
    private static let answer: [RawServer.Step] = [
        .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop,
    ]

    /// What is allowed where a tenth of a second is meant.
    private static let promptly = Timing.slack(Timing.limit(.milliseconds(200), otherwise: .seconds(1)))

    /// What a scenario has.
    private struct Scene {
        let network: TestNetwork
        let server: RawServer
        let client: HTTPClient
        let transport: CurlTransport

        var url: String { "http://192.0.2.1:\(server.port)/" }
    }

    private func withScene(
        _ script: [RawServer.Step] = answer, hears: Bool = true,
        _ change: (inout CurlTransport.Configuration) -> Void = { _ in }, _ body: (Scene) async throws -> Void
    ) async throws {
        try await withTestNetwork { network in
            try await withEventLoop(networkNamespace: network.router.path) { far in
                // On that loop's thread, because what is made there belongs to the router.
                let server = try await withCheckedThrowingContinuation { continuation in
                    far.execute {
                        continuation.resume(with: Result { try RawServer(script, address: "0.0.0.0") })
                    }
                }
                defer { server.stop() }
                try await withEventLoop(networkNamespace: network.device.path) { loop in
                    let monitor = LinuxNetworkMonitor(on: loop)
                    var configuration = CurlTransport.Configuration()
                    if hears { configuration.networkChanges = monitor.changes }
                    change(&configuration)
                    let transport = try CurlTransport(on: loop, configuration: configuration)
                    let scene = Scene(
                        network: network, server: server, client: HTTPClient(transport: transport), transport: transport
                    )
                    _ = try await get(scene)
                    if hears { try await eventually("the monitor is at work") { monitor.currentPath != nil } }
                    do { try await body(scene) } catch {
                        await transport.shutdown()
                        throw error
                    }
                    await transport.shutdown()
                    #expect(await transport.census() == (0, 0))
                    monitor.stop()
                }
            }
        }
    }

    /// One GET, with the connection that it went over.
    @discardableResult private func get(_ scene: Scene) async throws -> HTTPConnection? {
        let recorder = Recorder()
        let timeouts = HTTPTimeouts(connect: .seconds(5), firstByte: .seconds(5), stall: .seconds(5))
        let body = try await scene.transport.get(scene.url, recorder, timeouts: timeouts).body
        #expect(try await body.collect(upTo: 2) == Array("ok".utf8))
        return recorder.connection
    }

    @Test func afterANewLeaseTheNextRequestUsesTheNewAddress() async throws {
        try await withScene { scene in
            for address in ["192.0.2.20", "192.0.2.30", "192.0.2.40"] {
                try scene.network.changeAddress(to: address)
                try await Task.sleep(for: .milliseconds(20))
                let start = ContinuousClock.now
                let connection = try await get(scene)
                #expect(ContinuousClock.now - start < Self.promptly)  // 4 s and more without a monitor
                #expect(connection?.localAddress.hasPrefix("\(address):") == true)
                #expect(connection?.isReused == false)
            }
        }
    }

    @Test func aTransferUnderWayEndsWithItsAddress() async throws {
        let script: [RawServer.Step] =
            Array(Self.answer.dropLast()) + [.readHead, .send("HTTP/1.1 200 OK\r\n\r\na"), .waitForClose]
        try await withScene(script) { scene in
            let response = try await scene.client.get(scene.url)
            let reading = Task { try await response.body.discard() }
            try scene.network.goOffline()
            let start = ContinuousClock.now
            let error = await #expect(throws: HTTPClientError.self) { _ = try await reading.value }
            #expect(error?.code == .networkChanged)
            #expect(error?.isNetworkFailure == true)
            #expect(ContinuousClock.now - start < Self.promptly)
            try scene.network.goOnline()
        }
    }

    /// IPv4 addresses stay on a link that is down. Where there is another way, a transfer can be made again over that.
    @Test func aTransferUnderWayEndsWhereItsLinkIsDownAndTheWayHasMoved() async throws {
        let script: [RawServer.Step] =
            Array(Self.answer.dropLast()) + [.readHead, .send("HTTP/1.1 200 OK\r\n\r\na"), .waitForClose]
        try await withScene(script) { scene in
            try scene.network.device.batch([
                "link add eth1 type veth peer name far1", "link set far1 up", "addr add 198.51.100.2/24 dev eth1",
                "link set eth1 up", "route add default via 198.51.100.1 metric 9000",
            ])
            let response = try await scene.client.get(scene.url)
            let reading = Task { try await response.body.discard() }
            try await Task.sleep(for: .milliseconds(50))
            try scene.network.device.ip("link set eth0 down")
            let start = ContinuousClock.now
            let error = await #expect(throws: HTTPClientError.self) { _ = try await reading.value }
            #expect(error?.code == .networkChanged)
            #expect(ContinuousClock.now - start < Self.promptly)
        }
    }

    @Test func anotherRouterIsAnotherGeneration() async throws {
        try await withScene { scene in
            let before = try await get(scene)
            #expect(before?.isReused == true)
            try scene.network.device.ip("route replace default via 192.0.2.254")
            try await Task.sleep(for: .milliseconds(50))
            let after = try await get(scene)
            #expect(after?.isReused == false)
            #expect(await scene.transport.generations == 1)
        }
    }

    @Test func otherChangesKeepTheConnection() async throws {
        try await withScene { scene in
            try scene.network.device.batch([
                "addr add 192.0.2.77/24 dev eth0", "link set eth0 mtu 1400", "addr del 192.0.2.77/24 dev eth0",
                "route add 203.0.113.0/24 via 192.0.2.254",
            ])
            try await Task.sleep(for: .milliseconds(50))
            let connection = try await get(scene)
            #expect(connection?.isReused == true)
        }
    }

    @Test func aCarrierThatFlapsLeavesNothingStuck() async throws {
        try await withScene { scene in
            let (isOver, calls, flaps) = (Locked(false), Locked(1), 20)  // one GET has been made
            let (client, url) = (scene.client, scene.url)
            let callers = (0..<4).map { _ in
                Task {
                    var answers = 0
                    while !isOver.withLock({ $0 }) {
                        let timeouts = HTTPTimeouts(connect: .seconds(2), firstByte: .seconds(2))
                        calls.withLock { $0 += 1 }
                        do {
                            answers += Int(try await client.get(url, timeouts: timeouts).body.discard())
                        } catch let error as HTTPClientError {
                            #expect(error.isNetworkFailure, "\(error)")
                        }
                        try await Task.sleep(for: .milliseconds(5))
                    }
                    return answers
                }
            }
            for _ in 0..<flaps {
                try scene.network.cableOut()
                try await Task.sleep(for: .milliseconds(50))
                try scene.network.cableIn()
                try await Task.sleep(for: .milliseconds(50))
            }
            isOver.withLock { $0 = true }
            for caller in callers { _ = try await caller.value }
            #expect(await scene.transport.census().transfers == 0)
            // No storm. A flap costs each caller a connection, or two where the first one comes to nothing, and with a
            // new connection alone is a request sent that has been sent before.
            let (connections, heads) = (scene.server.connections.count, scene.server.heads.count)
            let asked = calls.withLock { $0 }
            #expect(connections <= 1 + callers.count * 2 * (flaps + 1))
            #expect(heads <= asked + connections)
            try await eventually { (try? await get(scene)) != nil }
            #expect(await scene.transport.generations == 1)
        }
    }

    /// Nobody tells the client; the kernel notices that nothing is acknowledged.
    @Test func aPeerThatIsSilentlyGoneIsNoticedInTime() async throws {
        try await withScene(hears: false) {
            $0.unacknowledgedTimeout = .seconds(1)
        } _: { scene in
            try scene.network.cableOut()
            let (error, time) = await failure {
                let timeouts = HTTPTimeouts(connect: .seconds(1), firstByte: .seconds(60))
                _ = try await scene.client.get(scene.url, timeouts: timeouts)
            }
            #expect(error?.isNetworkFailure == true)
            #expect(time < Timing.slack(.seconds(10)), "\(time)")
        }
    }

    @Test(arguments: [("unreachable", EHOSTUNREACH), ("prohibit", EACCES), ("none", ENETUNREACH)])
    func aHostWithoutAWayIsToldAtOnce(_ kind: String, _ number: CInt) async throws {
        try await withTestNetwork { network in
            switch kind {
            case "none": try network.device.ip("route del default")
            default: try network.device.ip("route add \(kind) 198.51.100.0/24")
            }
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                let transport = try CurlTransport(on: loop)
                let (error, time) = await failure {
                    _ = try await HTTPClient(transport: transport).get("http://198.51.100.1/")
                }
                #expect(error?.code == .connectionFailed, "\(String(describing: error))")
                #expect(error?.errno == number)
                #expect(error?.isNetworkFailure == true)
                #expect(error?.requestDisposition == .notSent)
                #expect(time < Timing.slack(.seconds(1)))
                await transport.shutdown()
            }
        }
    }
}
