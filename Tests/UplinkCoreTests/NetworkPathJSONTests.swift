// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UplinkCore

@Suite(.timeLimit(.minutes(1)))
struct NetworkPathJSONTests {
    private let path = NetworkPath(
        status: .satisfied, scope: .global,
        ipv4: FamilyPath(
            interface: "eth0", interfaceIndex: 40, gateway: IPAddress("192.0.2.1"), source: IPAddress("192.0.2.10"),
            table: 254),
        ipv6: .unavailable(.noAddress),
        interfaces: [
            NetworkInterface(
                name: "eth0", index: 40, kind: .ethernet,
                addresses: [IPAddress("192.0.2.10"), IPAddress("2001:db8::1")].compactMap { $0 }, mtu: 1500)
        ], isExpensive: true, generation: 7)

    @Test func theWholePathIsWritten() {
        #expect(
            path.json == """
                {"status":"satisfied","unsatisfiedReason":null,"scope":"global",\
                "ipv4":{"isAvailable":true,"unsatisfiedReason":null,"interface":"eth0","interfaceIndex":40,\
                "gateway":"192.0.2.1","source":"192.0.2.10","table":254},\
                "ipv6":{"isAvailable":false,"unsatisfiedReason":"noAddress","interface":null,"interfaceIndex":null,\
                "gateway":null,"source":null,"table":null},\
                "interfaces":[{"name":"eth0","index":40,"kind":"ethernet",\
                "addresses":["192.0.2.10","2001:db8::1"],"mtu":1500}],\
                "isExpensive":true,"isConstrained":false,"generation":7}
                """)
    }

    @Test func everyPropertyIsWritten() throws {
        let object = try #require(JSONSerialization.jsonObject(with: Data(path.json.utf8)) as? [String: Any])
        #expect(Set(object.keys) == names(of: path))
        let family = try #require(object["ipv4"] as? [String: Any])
        #expect(Set(family.keys) == names(of: path.ipv4))
        let interface = try #require((object["interfaces"] as? [[String: Any]])?.first)
        #expect(Set(interface.keys) == names(of: path.interfaces[0]))
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

    private func names(of value: Any) -> Set<String> { Set(Mirror(reflecting: value).children.compactMap(\.label)) }
}
