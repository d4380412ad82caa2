// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UplinkCore

/// A path as `uplink watch --json` writes it, with all that it writes.
struct WatchedPath: Decodable {
    private let status: String
    private let unsatisfiedReason: String?
    private let scope: String
    private let ipv4: Family
    private let ipv6: Family
    private let interfaces: [Interface]
    private let alternatives: [Interface]
    private let isExpensive: Bool
    private let isConstrained: Bool
    private let dns: DNS
    private let generation: UInt64
    private let networkID: String?
    private let isAuthoritative: Bool
    private let lastResume: Double?

    /// Reads a line.
    init(line: Substring) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }

    /// The path that the line is about.
    var path: NetworkPath {
        get throws {
            NetworkPath(
                status: try #require(NetworkPath.Status(rawValue: status)),
                unsatisfiedReason: unsatisfiedReason.flatMap(UnsatisfiedReason.init(rawValue:)),
                scope: try #require(NetworkPath.Scope.allCases.first { "\($0)" == scope }), ipv4: try ipv4.path,
                ipv6: try ipv6.path, interfaces: try interfaces.map { try $0.interface },
                alternatives: try alternatives.map { try $0.interface }, isExpensive: isExpensive,
                isConstrained: isConstrained,
                dns: DNSConfiguration(resolvers: try dns.resolvers.map { try $0.resolver }),
                generation: generation, networkID: try networkID.map { try #require(UInt64($0, radix: 16)) },
                isAuthoritative: isAuthoritative, lastResume: lastResume.map(instant(ofUptime:)))
        }
    }
}

/// Seconds since the system was started, to the millisecond.
private func instant(ofUptime seconds: Double) -> ContinuousClock.Instant {
    ContinuousClock().systemEpoch + .milliseconds(Int64((seconds * 1000).rounded()))
}

extension String? {
    fileprivate var address: IPAddress? {
        get throws { try map { try #require(IPAddress($0)) } }
    }
}

extension WatchedPath {
    fileprivate struct Family: Decodable {
        let isAvailable: Bool
        let unsatisfiedReason: String?
        let isDegraded: Bool
        let interface: String?
        let interfaceIndex: UInt32?
        let gateway: String?
        let gatewayState: String?
        let source: String?
        let table: UInt32?
        let validation: Validation

        var path: FamilyPath {
            get throws {
                var path = FamilyPath.unavailable(.unknown)
                path.isAvailable = isAvailable
                path.unsatisfiedReason = unsatisfiedReason.flatMap(UnsatisfiedReason.init(rawValue:))
                path.isDegraded = isDegraded
                path.interface = interface
                path.interfaceIndex = interfaceIndex
                path.gateway = try gateway.address
                path.gatewayState = try gatewayState.map { try #require(FamilyPath.GatewayState(rawValue: $0)) }
                path.source = try source.address
                path.table = table
                path.validation = try validation.validation
                return path
            }
        }
    }

    fileprivate struct Validation: Decodable {
        let state: String
        let at: Double?
        let url: String?
        let reason: String?

        var validation: PathValidation {
            get throws {
                switch try #require(PathValidation.State(rawValue: state)) {
                case .disabled: .disabled
                case .probing: .probing
                case .validated: .validated(at: instant(ofUptime: try #require(at)))
                case .captivePortal: .captivePortal(url: url)
                case .failed: .failed(try #require(reason))
                }
            }
        }
    }

    fileprivate struct Interface: Decodable {
        struct Underlying: Decodable {
            let endpoint: String?
            let kind: String?
            let path: Family
        }

        let name: String
        let index: UInt32
        let kind: String
        let addresses: [String]
        let gateways: [String]
        let mtu: UInt32
        let isMetered: Bool
        let underlying: Underlying?

        var interface: NetworkInterface {
            get throws {
                NetworkInterface(
                    name: name, index: index, kind: try #require(NetworkInterface.Kind(rawValue: kind)),
                    addresses: try addresses.map { try #require(IPAddress($0)) },
                    gateways: try gateways.map { try #require(IPAddress($0)) }, mtu: mtu, isMetered: isMetered,
                    underlying: try underlying.map { underlying in
                        .init(
                            endpoint: try underlying.endpoint.address,
                            kind: try underlying.kind.map { try #require(NetworkInterface.Kind(rawValue: $0)) },
                            path: try underlying.path.path)
                    })
            }
        }
    }

    fileprivate struct DNS: Decodable {
        struct Resolver: Decodable {
            let address: String
            let zone: String?
            let hasRoute: Bool

            var resolver: DNSConfiguration.Resolver {
                get throws {
                    .init(address: try #require(IPAddress(address)), zone: zone, hasRoute: hasRoute)
                }
            }
        }

        let resolvers: [Resolver]
    }
}

/// The tests that compare what the program writes with what the monitor says would overlook what is not read.
@Suite(.timeLimit(.minutes(1)))
struct WatchedPathTests {
    @Test func allThatIsWrittenIsRead() throws {
        let uptime = ContinuousClock().systemEpoch
        var ipv4 = FamilyPath(
            interface: "wg0", interfaceIndex: 7, gateway: IPAddress("192.0.2.1"), source: IPAddress("192.0.2.7"),
            table: 51820)
        (ipv4.isDegraded, ipv4.gatewayState) = (true, .stale)
        ipv4.validation = .validated(at: uptime + .milliseconds(123_456))
        var ipv6 = FamilyPath.unavailable(.noAddress)
        ipv6.validation = .captivePortal(url: "http://portal.example/")
        var below = FamilyPath(interface: "eth0", interfaceIndex: 2)
        below.validation = .failed("nobody answers")
        let tunnel = NetworkInterface(
            name: "wg0", index: 7, kind: .tunnel, addresses: [try #require(IPAddress("2001:db8::7"))],
            gateways: [try #require(IPAddress("192.0.2.1"))], mtu: 1420, isMetered: true,
            underlying: .init(endpoint: IPAddress("198.51.100.1"), kind: .ethernet, path: below))
        let path = NetworkPath(
            status: .satisfied, unsatisfiedReason: .linkDown, scope: .global, ipv4: ipv4, ipv6: ipv6,
            interfaces: [tunnel], alternatives: [NetworkInterface(name: "w\"0", index: 3, kind: .wifi)],
            isExpensive: true, isConstrained: true,
            dns: DNSConfiguration(resolvers: [
                .init(address: try #require(IPAddress("fe80::1")), zone: "eth0", hasRoute: true)
            ]), generation: 42, networkID: 0xFEDC_BA98_7654_3210, isAuthoritative: false,
            lastResume: uptime + .milliseconds(77_001))
        let line = path.json
        #expect(try WatchedPath(line: line[...]).path == path)
        #expect(try WatchedPath(line: line[...]).path.json == line)
    }
}
