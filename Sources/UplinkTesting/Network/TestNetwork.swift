// SPDX-License-Identifier: Apache-2.0

/// A test's own network, in the kernel: a device, a router, and a cable between them.
///
/// Each of the two is a network namespace: a separate network stack, which sees nothing of the machine's network, and
/// of which the machine's network sees nothing. What happens there is real: interfaces, addresses, routes, packets.
///
/// ```swift
/// try await withTestNetwork { network in
///     print(try await network.run(["ip", "-brief", "address"]).output)
///     try network.cableOut()
///     try network.cableIn()
///     try network.changeAddress()
/// }
/// ```
///
/// A test can use it in two ways. ``run(_:within:environment:)`` starts a program on the device. In the test's own
/// process `withEventLoop(networkNamespace: network.device.path)` makes an event loop on the device, for a monitor and
/// an HTTP client; a server on the router is made likewise, with `network.router.path`.
///
/// The addresses are those reserved for examples (RFC 5737, RFC 3849):
///
/// | | device | router |
/// |---|---|---|
/// | cable | `eth0` | `r0` |
/// | IPv4 | 192.0.2.10/24 | 192.0.2.1, the gateway; 192.0.2.254 |
/// | IPv6 | 2001:db8:1::10/64 | 2001:db8:1::1, the gateway |
/// | second cable | `eth1`, 198.51.100.10/24 | `r1`, 198.51.100.1 |
///
/// Every step takes effect before it returns, and may be repeated, except for the two that connect a cable. All of them
/// run `ip` of iproute2, need root (CAP_SYS_ADMIN and CAP_NET_ADMIN), and throw ``TestNetworkError``.
public struct TestNetwork: Sendable {
    /// What the network has when a test begins.
    public enum Beginning: Sendable, Hashable, CaseIterable {
        /// Two namespaces without a cable; even the device's loopback is down.
        case empty
        /// The cable; the device has the link and nothing more.
        case connected
        /// The cable, and on the device an IPv4 address and a default route.
        case ipv4
        /// The cable, and on the device an IPv6 address and a default route.
        case ipv6
        /// Both families.
        case dualStack
    }

    /// The machine whose network comes and goes, where the code under test belongs.
    public let device: NetworkNamespace
    /// The machine at the other end of the cable.
    public let router: NetworkNamespace
    private let beginning: Beginning

    /// Connects the cable: links that are up on both ends, addresses on the router, none on the device.
    public func connect() throws(TestNetworkError) {
        try device.batch([
            "link set lo up", "link add eth0 index 40 type veth peer name r0 index 50 netns \(router.name)",
        ])
        try router.batch([
            "addr add 192.0.2.1/24 dev r0", "addr add 192.0.2.254/24 dev r0", "addr add 2001:db8:1::1/64 dev r0 nodad",
            "link set r0 up",
        ])
        try device.ip("link set eth0 up")
    }

    /// Gives the device its IPv4 address and a default route.
    public func addIPv4() throws(TestNetworkError) {
        try device.batch(["addr replace 192.0.2.10/24 dev eth0", "route replace default via 192.0.2.1"])
    }

    /// Gives the device its IPv6 address, usable immediately, and a default route.
    public func addIPv6() throws(TestNetworkError) {
        try device.batch([
            "addr replace 2001:db8:1::10/64 dev eth0 nodad", "route replace default via 2001:db8:1::1",
        ])
    }

    /// Connects a second cable, with an IPv4 address on the device but no route.
    public func connectSecondUplink() throws(TestNetworkError) {
        try device.ip("link add eth1 index 41 type veth peer name r1 index 51 netns \(router.name)")
        try router.batch(["addr add 198.51.100.1/24 dev r1", "link set r1 up"])
        try device.batch(["link set eth1 up", "addr add 198.51.100.10/24 dev eth1"])
    }

    /// Pulls the cable: the device's link loses its carrier, addresses and routes stay.
    public func cableOut() throws(TestNetworkError) { try router.ip("link set r0 down") }

    /// Plugs the cable in again.
    public func cableIn() throws(TestNetworkError) {
        // The router's IPv6 address went with its link.
        try router.batch(["link set r0 up", "addr replace 2001:db8:1::1/64 dev r0 nodad"])
    }

    /// Removes the addresses of the device's first cable and all default routes, as at the end of a lease; the cable
    /// stays.
    public func goOffline() throws(TestNetworkError) {
        try device.ip("-6 route flush default")
        try device.batch(["route flush default", "addr flush dev eth0 scope global"])
    }

    /// Gives the device the addresses and default routes that it began with, or those of IPv4 if it began with none.
    public func goOnline() throws(TestNetworkError) {
        switch beginning {
        case .empty, .connected, .ipv4: try addIPv4()
        case .ipv6: try addIPv6()
        case .dualStack:
            try addIPv4()
            try addIPv6()
        }
    }

    /// Replaces the device's IPv4 address by another one, as a new lease does: connections from the old address are
    /// dead.
    ///
    /// - Parameter address: An address in 192.0.2.0/24 that the router does not have.
    public func changeAddress(to address: String = "192.0.2.20") throws(TestNetworkError) {
        try device.ip("-4 addr flush dev eth0")
        try device.batch(["addr add \(address)/24 dev eth0", "route replace default via 192.0.2.1"])
    }

    /// Runs a program on the device to its end; see ``NetworkNamespace/run(_:within:environment:)``.
    public nonisolated(nonsending) func run(
        _ command: [String], within limit: Duration = .seconds(30), environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await device.run(command, within: limit, environment: environment)
    }
}

/// Runs `body` with a network of its own, which is gone when this returns, even after an error.
///
/// Networks are separate from one another: tests with one each may run in parallel. Programs that `body` left behind
/// keep their namespace until they end. A test process that is killed leaves its namespaces behind: `ip netns list`
/// shows them as `uplink-test-<process>-…`, and `ip netns delete` removes them.
///
/// - Parameters:
///   - beginning: What the network has when `body` begins.
///   - body: Uses the network.
/// - Throws: ``TestNetworkError`` when no network can be made (``TestNetwork/isPermitted`` tells beforehand), or
///   whatever `body` throws.
public nonisolated(nonsending) func withTestNetwork<Result>(
    _ beginning: TestNetwork.Beginning = .ipv4,
    _ body: nonisolated(nonsending) (TestNetwork) async throws -> Result
) async throws -> Result {
    let network = try TestNetwork(beginning)
    defer { network.remove() }
    try network.begin()
    return try await body(network)
}

extension TestNetwork {
    /// Whether this process can make networks: tried once, by making one.
    ///
    /// Always true if the environment has `CI=true`: there a test that cannot run should fail, not be skipped.
    ///
    /// ```swift
    /// @Test(.enabled(if: TestNetwork.isPermitted, "networks need root"))
    /// ```
    public static let isPermitted: Bool = ProcessEnvironment.isCI || (try? TestNetwork(.empty))?.remove() != nil

    /// The reason to give for a skipped test.
    public static let requirement = "test networks need root (CAP_SYS_ADMIN, CAP_NET_ADMIN) and iproute2"

    fileprivate init(_ beginning: Beginning) throws(TestNetworkError) {
        self.beginning = beginning
        device = try NetworkNamespace.make()
        do { router = try NetworkNamespace.make() } catch {
            device.remove()
            throw error
        }
    }

    fileprivate func begin() throws(TestNetworkError) {
        try router.ip("link set lo up")
        guard beginning != .empty else { return }
        try connect()
        if beginning != .connected { try goOnline() }
    }

    /// Removes the network, and with it its cables.
    fileprivate func remove() {
        device.remove()
        router.remove()
    }
}
