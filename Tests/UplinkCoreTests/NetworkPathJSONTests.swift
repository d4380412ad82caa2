// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UplinkCore

@Suite(.timeLimit(.minutes(1)))
struct NetworkPathJSONTests {
    private let path: NetworkPath = {
        let carrier = FamilyPath(interface: "eth0", interfaceIndex: 40, gateway: IPAddress("192.0.2.1"))
        let tunnel = NetworkInterface(
            name: "tun0", index: 7, kind: .tunnel,
            addresses: [IPAddress("10.8.0.2"), IPAddress("2001:db8::1")].compactMap { $0 },
            gateways: [IPAddress("10.8.0.1")].compactMap { $0 }, mtu: 1420, isMetered: true,
            underlying: .init(endpoint: IPAddress("198.51.100.1"), kind: .ethernet, path: carrier))
        var path = NetworkPath(
            status: .satisfied, scope: .global,
            ipv4: FamilyPath(
                interface: "tun0", interfaceIndex: 7, gateway: IPAddress("10.8.0.1"), source: IPAddress("10.8.0.2"),
                table: 254),
            ipv6: .unavailable(.noAddress), interfaces: [tunnel],
            alternatives: [NetworkInterface(name: "eth0", index: 40, kind: .ethernet)], isExpensive: true,
            generation: 7, networkID: 0xAB)
        path.dns.resolvers = [IPAddress("fe80::1")].compactMap { $0 }.map {
            .init(address: $0, zone: "eth0", hasRoute: true)
        }
        path.ipv4.gatewayState = .stale
        return path
    }()

    @Test func theWholePathIsWritten() {
        let none = #""validation":{"state":"disabled"}"#
        #expect(
            path.json == """
                {"status":"satisfied","unsatisfiedReason":null,"scope":"global",\
                "ipv4":{"isAvailable":true,"unsatisfiedReason":null,"isDegraded":false,"interface":"tun0",\
                "interfaceIndex":7,"gateway":"10.8.0.1","gatewayState":"stale","source":"10.8.0.2","table":254,\(none)},\
                "ipv6":{"isAvailable":false,"unsatisfiedReason":"noAddress","isDegraded":false,"interface":null,\
                "interfaceIndex":null,"gateway":null,"gatewayState":null,"source":null,"table":null,\(none)},\
                "interfaces":[{"name":"tun0","index":7,"kind":"tunnel","addresses":["10.8.0.2","2001:db8::1"],\
                "gateways":["10.8.0.1"],"mtu":1420,"isMetered":true,"underlying":{"endpoint":"198.51.100.1",\
                "kind":"ethernet","path":{"isAvailable":true,"unsatisfiedReason":null,"isDegraded":false,\
                "interface":"eth0","interfaceIndex":40,"gateway":"192.0.2.1","gatewayState":null,"source":null,\
                "table":null,\(none)}}}],\
                "alternatives":[{"name":"eth0","index":40,"kind":"ethernet","addresses":[],"gateways":[],"mtu":1500,\
                "isMetered":false,"underlying":null}],\
                "isExpensive":true,"isConstrained":false,\
                "dns":{"resolvers":[{"address":"fe80::1","zone":"eth0","hasRoute":true}]},\
                "generation":7,"networkID":"00000000000000ab","isAuthoritative":true,"lastResume":null}
                """)
    }

    @Test func everyPropertyIsWritten() throws {
        let object = try #require(JSONSerialization.jsonObject(with: Data(path.json.utf8)) as? [String: Any])
        #expect(Set(object.keys) == names(of: path))
        let family = try #require(object["ipv4"] as? [String: Any])
        #expect(Set(family.keys) == names(of: path.ipv4))
        let interface = try #require((object["interfaces"] as? [[String: Any]])?.first)
        #expect(Set(interface.keys) == names(of: path.interfaces[0]))
        let underlying = try #require(interface["underlying"] as? [String: Any])
        #expect(Set(underlying.keys) == names(of: try #require(path.interfaces[0].underlying)))
        let dns = try #require(object["dns"] as? [String: Any])
        #expect(Set(dns.keys) == names(of: path.dns))
        let resolver = try #require((dns["resolvers"] as? [[String: Any]])?.first)
        #expect(Set(resolver.keys) == names(of: path.dns.resolvers[0]))
    }

    @Test func instantsAreSecondsSinceTheStart() throws {
        var path = path
        let start = ContinuousClock().systemEpoch
        path.lastResume = start + .milliseconds(61_007)
        path.ipv4.validation = .validated(at: start)
        #expect(path.json.contains(#""lastResume":61.007"#))
        #expect(path.json.contains(#""validation":{"state":"validated","at":0.000}"#))
        path.lastResume = start - .seconds(5)
        #expect(path.json.contains(#""lastResume":0.000"#))
        path.lastResume = start + .seconds(Int64.max)
        #expect(path.json.contains(#""lastResume":9223372036.854"#))  // as late as nanoseconds can say
    }

    @Test func validationsAreWrittenWithWhatIsKnown() {
        var path = path
        path.ipv4.validation = .captivePortal(url: "http://login.example/?a=\"b\"")
        path.ipv6.validation = .failed("no answer")
        #expect(path.json.contains(#""validation":{"state":"captivePortal","url":"http://login.example/?a=\"b\""}"#))
        #expect(path.json.contains(#""validation":{"state":"failed","reason":"no answer"}"#))
        path.ipv4.validation = .captivePortal(url: nil)
        path.ipv6.validation = .probing
        #expect(path.json.contains(#""validation":{"state":"captivePortal","url":null}"#))
        #expect(path.json.contains(#""validation":{"state":"probing"}"#))
    }

    @Test(arguments: [
        "\"", "\\", "a\"b\\c", "\u{0}\u{1}\u{1F}\u{7F}", "tab\there", "żółć", "🛰️", "\u{2028}", "e\u{301}",
    ])
    func anyNameSurvives(name: String) throws {
        var path = path
        path.interfaces[0].name = name
        let object = try JSONSerialization.jsonObject(with: Data(path.json.utf8)) as? [String: Any]
        let read = (object?["interfaces"] as? [[String: Any]])?.first?["name"] as? String
        #expect(read?.unicodeScalars.elementsEqual(name.unicodeScalars) == true)
        #expect(!path.json.contains("\n"))
    }

    @Test func largeGenerationsAreExact() {
        var path = path
        path.generation = .max
        #expect(path.json.contains("\"generation\":18446744073709551615"))
    }

    /// The names of a value's properties, one of which is stored under another.
    private func names(of value: Any) -> Set<String> {
        Set(Mirror(reflecting: value).children.compactMap { $0.label == "resume" ? "lastResume" : $0.label })
    }
}
