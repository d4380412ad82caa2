// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import Uplink
import UplinkTesting

/// A monitor that validates its path with the ready-made probes, against a server on the router that answers each
/// family in its own way. Real time, because connections have no other.
@Suite(
    .timeLimit(.minutes(3)), .undisturbed, .serialized,
    .needsNetworkNamespaces)
struct ValidationProbeTests {
    private typealias Answer = AnsweringServer.Answer

    private static let noContent = Answer.bytes("HTTP/1.1 204 No Content\r\n\r\n")
    private static let page = Answer.bytes(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>Welcome to the hotel</html>")
    private static let redirect = Answer.bytes(
        "HTTP/1.1 302 Found\r\nLocation: http://login.hotel.example/?from=here\r\nContent-Length: 0\r\n\r\n")
    private static let relativeRedirect = Answer.bytes(
        "HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n")
    private static let online = Answer.bytes("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nonline\n")
    private static let error = Answer.bytes("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
    private static let endless = Answer.bytes(
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + String(repeating: "x", count: 100_000))

    private struct Fixture: Sendable {
        let host: NetworkNamespace
        let loop: EventLoop
        let server: AnsweringServer
        let transport: CurlTransport.Configuration
        let url = "http://probe.example:8080/generate_204"
    }

    private func withServer(
        _ ipv4: Answer, _ ipv6: Answer, preferring preferred: IPAddress.Family = .ipv4,
        _ body: nonisolated(nonsending) (Fixture) async throws -> Void
    ) async throws {
        let addresses = ["192.0.2.1", "2001:db8:1::1"].compactMap { IPAddress($0) }
        var transport = CurlTransport.Configuration()
        // Left to itself, libcurl would take the first one's family.
        transport.resolve = [
            "probe.example:8080": preferred == .ipv4 ? addresses : addresses.reversed()
        ]
        try await withNetworkNamespaces { host, router in
            try host.ip("link set lo up")
            try host.ip("link add eth0 index 40 type veth peer name r0 index 50 netns \(router.name)")
            try router.batch([
                "link set lo up", "addr add 192.0.2.1/24 dev r0", "addr add 2001:db8:1::1/64 dev r0 nodad",
                "link set r0 up",
            ])
            try host.batch([
                "link set eth0 up", "addr add 192.0.2.10/24 dev eth0", "route add default via 192.0.2.1",
                "addr add 2001:db8:1::10/64 dev eth0 nodad", "route add default via 2001:db8:1::1",
            ])
            try await withEventLoop(networkNamespace: router.name) { routerLoop in
                let server = try await AnsweringServer(
                    on: routerLoop, addresses: addresses, port: 8080, answers: [.ipv4: ipv4, .ipv6: ipv6])
                defer { server.stop() }
                try await withEventLoop(networkNamespace: host.name) { loop in
                    try await body(Fixture(host: host, loop: loop, server: server, transport: transport))
                }
            }
        }
    }

    /// What both families of the path are found to be.
    private func verdicts(
        _ probe: ValidationProbe, on loop: EventLoop
    ) async throws -> (ipv4: PathValidation, ipv6: PathValidation) {
        let monitor = LinuxNetworkMonitor(on: loop, validator: PathValidator(probe, timeout: .seconds(2)))
        for try await path in monitor.paths {
            #expect(path.isSatisfied)  // whatever is found
            if path.ipv4.validation != .probing, path.ipv6.validation != .probing {
                return (path.ipv4.validation, path.ipv6.validation)
            }
        }
        throw Missing("validated path before the stream's end")
    }

    @Test(arguments: IPAddress.Family.allCases)
    func eachFamilyIsValidatedByItsOwnAnswer(preferred: IPAddress.Family) async throws {
        try await withServer(Self.noContent, Self.page, preferring: preferred) { fixture in
            let probe = ValidationProbe.http204(fixture.url, on: fixture.loop, transport: fixture.transport)
            let found = try await verdicts(probe, on: fixture.loop)
            #expect(found.ipv4.state == .validated)
            #expect(found.ipv6 == .captivePortal(url: nil))
            #expect(fixture.server.asked(.ipv4) >= 1 && fixture.server.asked(.ipv6) >= 1)
        }
    }

    @Test func aRedirectNamesThePortalAndSilenceIsAFailure() async throws {
        try await withServer(Self.redirect, .nothing) { fixture in
            let probe = ValidationProbe.http204(fixture.url, on: fixture.loop, transport: fixture.transport)
            let found = try await verdicts(probe, on: fixture.loop)
            #expect(found.ipv4 == .captivePortal(url: "http://login.hotel.example/?from=here"))
            #expect(found.ipv6.state == .failed)
        }
    }

    @Test func errorsOfTheServerAreFailuresAndEndlessBodiesPortals() async throws {
        try await withServer(Self.error, Self.endless) { fixture in
            let probe = ValidationProbe.http204(fixture.url, on: fixture.loop, transport: fixture.transport)
            let found = try await verdicts(probe, on: fixture.loop)
            #expect(found.ipv4 == .failed("the server answered with status 503"))
            #expect(found.ipv6 == .captivePortal(url: nil))
        }
    }

    @Test func aBodyIsExpectedToTheByte() async throws {
        try await withServer(Self.online, Self.page) { fixture in
            let probe = ValidationProbe.expecting(
                body: "online\n", at: fixture.url, on: fixture.loop, transport: fixture.transport)
            let found = try await verdicts(probe, on: fixture.loop)
            #expect(found.ipv4.state == .validated)
            #expect(found.ipv6.state == .captivePortal)
            let other = ValidationProbe.expecting(
                body: "onlinE\n", at: fixture.url, on: fixture.loop, transport: fixture.transport)
            fixture.server.answer(.ipv6, Self.relativeRedirect)
            let others = try await verdicts(other, on: fixture.loop)
            #expect(others.ipv4 == .captivePortal(url: nil))
            #expect(others.ipv6 == .captivePortal(url: "http://probe.example:8080/login"))
        }
    }

    @Test func aPortThatTakesConnectionsValidates() async throws {
        try await withServer(.nothing, .nothing) { fixture in
            let open = try await verdicts(.tcpConnect(to: "192.0.2.1", port: 8080, on: fixture.loop), on: fixture.loop)
            #expect(open.ipv4.state == .validated)
            // An address validates its own family.
            #expect(open.ipv6 == .failed("192.0.2.1 port 8080: the address is one of the other family"))
            let cutOff = ValidationProbe.tcpConnect(to: "192.0.2.1\0.example", port: 8080, on: fixture.loop)
            let found = try await verdicts(cutOff, on: fixture.loop)
            #expect(found.ipv4.state == .failed)
            let shut = try await verdicts(
                .tcpConnect(to: "2001:db8:1::1", port: 8081, on: fixture.loop), on: fixture.loop)
            #expect(shut.ipv6 == .failed("2001:db8:1::1 port 8081: Connection refused"))
            let ipv6 = try await verdicts(
                .tcpConnect(to: "2001:db8:1::1", port: 8080, on: fixture.loop), on: fixture.loop)
            #expect(ipv6.ipv6.state == .validated)
        }
    }

    @Test func aLoginThatLetsGoIsNoticed() async throws {
        try await withServer(Self.redirect, Self.noContent) { fixture in
            let probe = ValidationProbe.http204(fixture.url, on: fixture.loop, transport: fixture.transport)
            let validator = PathValidator(probe, firstPause: .milliseconds(100))
            let monitor = LinuxNetworkMonitor(on: fixture.loop, validator: validator)
            var isLoggedIn = false
            for try await path in monitor.paths {
                if path.ipv4.validation.state == .captivePortal, !isLoggedIn {
                    isLoggedIn = true
                    fixture.server.answer(.ipv4, Self.noContent)
                }
                if isLoggedIn, path.ipv4.validation.state == .validated { break }
            }
            #expect(isLoggedIn)
        }
    }

    @Test func aProbeThatIsCancelledLeavesNothing() async throws {
        try await withServer(.nothing, .nothing) { fixture in
            // What libdispatch opens with its first timer, and libcurl with its first transfer, stays.
            try await Task.sleep(for: .milliseconds(1))
            let refused = ValidationProbe.http204("http://192.0.2.1:1/", on: fixture.loop, transport: fixture.transport)
            #expect(await refused(.ipv4, NetworkPath()).state == .failed)
            let before = Census().descriptors
            for _ in 0..<5 {
                let probe = ValidationProbe.http204(fixture.url, on: fixture.loop, transport: fixture.transport)
                let task = Task { await probe(.ipv4, NetworkPath()) }
                let asked = fixture.server.asked(.ipv4)
                try await eventually("the server is asked") { fixture.server.asked(.ipv4) > asked }
                task.cancel()
                #expect(await task.value.state == .failed)
            }
            // The server's ends stay open: they are five.
            try await eventually("the probes' sockets are closed") { Census().descriptors <= before + 5 }
        }
    }
}
