// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing
import UplinkCore

@testable import UplinkMonitor

/// Which policy rules make packets unreachable.
@Suite(.timeLimit(.minutes(1)))
struct RuleRecordTests {
    @Test func onlyUnreachableForbidsHere() throws {
        for (action, expected) in [(7, true), (1, false), (6, false), (8, false)] as [(UInt8, Bool)] {
            #expect(try rule(action: action).forbids(flow(), interface: nil, user: 0) == expected)
        }
    }

    @Test func theFamilyHasToBeTheSame() throws {
        let rule = try rule(family: UInt8(AF_INET6))
        #expect(!rule.forbids(try flow(), interface: nil, user: 0))
        #expect(rule.forbids(try flow("2600::1"), interface: nil, user: 0))
    }

    @Test func selectorsThatAnUnboundSocketNeverMatches() throws {
        #expect(try !rule(sourceLength: 24).forbids(flow(), interface: nil, user: 0))
        #expect(try !rule(service: 16).forbids(flow(), interface: nil, user: 0))
        for (attribute, value) in [
            (3, Array("eth0\0".utf8)), (23, [1, 0, 2, 0]), (24, [1, 0, 2, 0]), (25, [46]),
        ] {
            let rule = try rule { $0.add(attribute: attribute, value) }
            #expect(!rule.forbids(try flow(), interface: nil, user: 0))
        }
        let fromHere = try rule { $0.add(attribute: 3, Array("lo\0".utf8)) }
        #expect(fromHere.forbids(try flow(), interface: nil, user: 0))
    }

    @Test func theDestinationCounts() throws {
        let rule = try rule(destinationLength: 8) { $0.add(attribute: 1, [45, 0, 0, 0]) }
        #expect(rule.forbids(try flow("45.0.0.1"), interface: nil, user: 0))
        #expect(!rule.forbids(try flow("46.0.0.1"), interface: nil, user: 0))
    }

    @Test func theSourceCounts() throws {
        let rule = try rule(sourceLength: 24) { $0.add(attribute: 2, [192, 0, 2, 0]) }
        #expect(!rule.forbids(try flow(), interface: nil, user: 0))
        for (source, expected) in [("192.0.2.10", true), ("192.0.3.10", false)] {
            let flow = try flow().from(#require(IPAddress(source)))
            #expect(rule.forbids(flow, interface: nil, user: 0) == expected)
        }
    }

    @Test func theMarkCounts() throws {
        let rule = try rule {
            $0.add(attribute: 10, UInt32(0x10))
            $0.add(attribute: 16, UInt32(0xF0))
        }
        var marked = try flow()
        #expect(!rule.forbids(marked, interface: nil, user: 0))
        marked.mark = 0x13
        #expect(rule.forbids(marked, interface: nil, user: 0))
        let exact = try self.rule { $0.add(attribute: 10, UInt32(0x10)) }
        #expect(!exact.forbids(marked, interface: nil, user: 0))
    }

    @Test func theUserCounts() throws {
        let rule = try rule {
            var range = Bytes()
            range.add(UInt32(1000))
            range.add(UInt32(1999))
            $0.add(attribute: 20, range.bytes)
        }
        #expect(!rule.forbids(try flow(), interface: nil, user: 0))
        #expect(rule.forbids(try flow(), interface: nil, user: 1500))
        var named = try flow()
        named.user = 1000
        #expect(rule.forbids(named, interface: nil, user: 0))
    }

    @Test func theInterfaceCounts() throws {
        let rule = try rule { $0.add(attribute: 17, Array("eth1\0".utf8)) }
        #expect(!rule.forbids(try flow(), interface: nil, user: 0))
        #expect(!rule.forbids(try flow(), interface: "eth0", user: 0))
        #expect(rule.forbids(try flow(), interface: "eth1", user: 0))
    }

    @Test func theProtocolCounts() throws {
        for (number, (tcp, udp)) in [(6, (true, false)), (17, (false, true)), (1, (false, false)), (0, (true, true))]
            as [(UInt8, (Bool, Bool))]
        {
            let rule = try rule { $0.add(attribute: 22, [number]) }
            var flow = try flow()
            #expect(rule.forbids(flow, interface: nil, user: 0) == tcp)
            flow.transport = .udp
            #expect(rule.forbids(flow, interface: nil, user: 0) == udp)
        }
    }

    @Test func notTurnsItRound() throws {
        let rule = try rule(flags: 2) { $0.add(attribute: 10, UInt32(51820)) }
        #expect(rule.forbids(try flow(), interface: nil, user: 0))
        var marked = try flow()
        marked.mark = 51820
        #expect(!rule.forbids(marked, interface: nil, user: 0))
    }

    @Test func truncatedRulesAreNone() {
        for length in 0..<12 {
            [UInt8](repeating: 2, count: length).withUnsafeBytes { #expect(RuleRecord($0.bytes) == nil) }
        }
    }

    private func rule(
        family: UInt8 = UInt8(AF_INET), destinationLength: UInt8 = 0, sourceLength: UInt8 = 0, service: UInt8 = 0,
        action: UInt8 = 7, flags: UInt32 = 0, _ more: (inout Bytes) -> Void = { _ in }
    ) throws -> RuleRecord {
        var payload = Bytes(bytes: [family, destinationLength, sourceLength, service, 254, 0, 0, action])
        payload.add(flags)
        more(&payload)
        return try #require(payload.bytes.withUnsafeBytes { RuleRecord($0.bytes) })
    }

    private func flow(_ destination: String = "45.0.0.1") throws -> Flow {
        Flow(destination: try #require(IPAddress(destination)))
    }
}
