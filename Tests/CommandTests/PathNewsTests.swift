// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkCommand

/// What `uplink watch` says to people, without a network or a terminal.
@Suite(.timeLimit(.minutes(1)))
struct PathNewsTests {
    private var online: NetworkPath {
        var path = NetworkPath(status: .satisfied, scope: .global, generation: 1)
        path.ipv4 = FamilyPath(
            interface: "eth0", interfaceIndex: 2, gateway: IPAddress("192.0.2.1"), source: IPAddress("192.0.2.10"))
        path.ipv6 = .unavailable(.noAddress)
        path.interfaces = [NetworkInterface(name: "eth0", index: 2, kind: .ethernet)]
        return path
    }

    private var offline: NetworkPath {
        NetworkPath(
            unsatisfiedReason: .noRoute, scope: .site, ipv4: .unavailable(.noRoute), ipv6: .unavailable(.noAddress),
            generation: 1)
    }

    private func words(_ before: NetworkPath, _ after: NetworkPath) -> [String] {
        PathNews(after, after: before).items.map(\.words)
    }

    private func words(_ before: NetworkPath, _ change: (inout NetworkPath) -> Void) -> [String] {
        var after = before
        after.generation += 1
        change(&after)
        return words(before, after)
    }

    @Test func theFirstLineIsThePath() {
        #expect(PathNews(online, after: nil).items == [.good("\(online)")])
        #expect(PathNews(offline, after: nil).items == [.bad("unsatisfied: no route to the internet")])
    }

    @Test func lossAndReturnSayWhyAndHow() {
        #expect(words(online, offline) == ["network lost: no route to the internet"])
        #expect(words(offline, online) == ["network there: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1"])
        #expect(PathNews(offline, after: online).items.map(\.mood) == [.bad])
        #expect(PathNews(online, after: offline).items.map(\.mood) == [.good])
    }

    @Test func whatElseIsAwayIsSaid() {
        #expect(words(offline) { $0.unsatisfiedReason = .linkDown } == ["still no network: the link is down"])
        #expect(words(offline) { $0.scope = .host } == ["this host reaches itself alone"])
        let other = NetworkInterface(name: "wlan0", index: 3, kind: .wifi)
        #expect(words(offline) { $0.alternatives = [other] } == ["a socket bound to wlan0 would work"])
    }

    @Test func handoversAreSaid() {
        let wifi = NetworkInterface(name: "wlan0", index: 3, kind: .wifi)
        #expect(
            words(online) {
                $0.interfaces = [wifi]
                ($0.ipv4.interface, $0.ipv4.interfaceIndex) = ("wlan0", 3)
            } == ["now through wlan0 (wifi), no longer through eth0"])
        #expect(
            words(online) {
                $0.interfaces[0].name = "wan0"
                $0.ipv4.interface = "wan0"
            } == ["eth0 is called wan0 now"])
        #expect(
            words(online) { $0.ipv4.gateway = IPAddress("192.0.2.2") } == ["IPv4 gateway 192.0.2.2, was 192.0.2.1"])
        #expect(words(online) { $0.ipv4.source = nil } == ["IPv4 address none, was 192.0.2.10"])
    }

    @Test func familiesComeAndGo() {
        var both = online
        both.ipv6 = FamilyPath(interface: "eth0", interfaceIndex: 2, source: IPAddress("2001:db8::1"))
        #expect(words(online) { $0.ipv6 = both.ipv6 } == ["IPv6 too: 2001:db8::1"])
        #expect(words(both) { $0.ipv6 = .unavailable(.noAddress) } == ["IPv6 lost: no usable address"])
    }

    @Test func validationIsSaid() {
        #expect(words(online) { $0.ipv4.validation = .validated(at: .now) } == ["IPv4 validated"])
        #expect(
            words(online) { $0.ipv4.validation = .captivePortal(url: "http://login/") }
                == ["IPv4 captive portal, log in at http://login/"])
        #expect(
            words(online) { $0.ipv4.validation = .failed("no answer") } == ["IPv4 not validated: no answer"])
    }

    @Test func probingIsNoOtherChange() {
        let validated = words(online) {
            $0.generation += 1
            $0.ipv4.validation = .validated(at: .now)
        }
        #expect(validated == ["IPv4 validated"])
        let later = words(online) {
            $0.generation += 2
            $0.ipv4.validation = .validated(at: .now)
        }
        #expect(later == ["IPv4 validated", "other changes came and went in between"])
    }

    @Test func costsSleepAndBreaksAreSaid() {
        #expect(words(online) { $0.isExpensive = true } == ["metered now"])
        #expect(words(online) { $0.lastResume = .now } == ["the system woke from sleep"])
        #expect(words(online) { $0.isAuthoritative = false } == ["looked at without netlink"])
        let news = words(online) {
            $0.generation += 1
            $0.ipv4.gateway = IPAddress("192.0.2.2")
        }
        #expect(news == ["IPv4 gateway 192.0.2.2, was 192.0.2.1", "other changes came and went in between"])
    }

    @Test func nameServersAreSaidWhereTheyAreNews() throws {
        let address = try #require(IPAddress("192.0.2.53"))
        #expect(
            words(online) { $0.dns.resolvers = [.init(address: address)] } == ["name servers: 192.0.2.53 (no route)"])
        var (before, after) = (online, offline)
        before.dns.resolvers = [.init(address: address, hasRoute: true)]
        after.dns.resolvers = [.init(address: address, hasRoute: false)]
        #expect(words(before, after) == ["network lost: no route to the internet"])
        #expect(words(after, before).count == 1)
    }

    @Test func whatHasNoWordsIsThePathItself() {
        #expect(words(online) { $0.networkID = 7 } == ["\(online)"])
    }

    @Test func coloursFollowTheMoodAndNamesCannotForgeThem() {
        var path = online
        path.interfaces[0].name = "e\u{1B}[31mx"
        let line = PathLine(time: "14:05:59", news: PathNews(path, after: nil))
        #expect(line.text.plain.hasPrefix("14:05:59  satisfied: "))
        #expect(!line.text.plain.contains("\u{1B}"))
        #expect(line.text.ansi.contains("\u{1B}[32m"))
    }

    @Test func oneFamilyAloneIsJudgedAlone() throws {
        let ipv6 = online.restricted(to: .ipv6)
        #expect(!ipv6.isSatisfied && ipv6.unsatisfiedReason == .noAddress && ipv6.interfaces.isEmpty)
        #expect(ipv6.ipv4 == .notAsked)
        let ipv4 = online.restricted(to: .ipv4)
        #expect(ipv4.isSatisfied && ipv4.primaryInterface?.name == "eth0" && ipv4.ipv6 == .notAsked)
        var other = ipv4
        other.generation = 99
        #expect(ipv4.isSame(as: other) && !ipv4.isSame(as: ipv6))
        let server = try #require(IPAddress("192.0.2.53"))
        var (near, far) = (online, online)
        (near.networkID, near.dns.resolvers) = (7, [.init(address: server, hasRoute: true)])
        (far.networkID, far.dns.resolvers) = (8, [.init(address: server, hasRoute: false)])
        #expect(near.restricted(to: .ipv6).isSame(as: far.restricted(to: .ipv6)))
        #expect(!near.restricted(to: .ipv4).isSame(as: far.restricted(to: .ipv4)))
    }

    @Test func whatConcernsTheOtherFamilyAloneLeavesNoGapBehind() {
        func path(_ generation: UInt64, _ hasIPv6: Bool) -> NetworkPath {
            var path = online
            path.generation = generation
            if !hasIPv6 { path.ipv6 = .unavailable(.noRoute) }
            return path
        }
        var filter = FamilyFilter(family: .ipv4)
        #expect(filter.take(path(1, true)) != nil)
        #expect(filter.take(path(2, false)) == nil)
        #expect(filter.last?.generation == 2)
        #expect(filter.take(path(4, true)) == nil)  // the third was never delivered
        #expect(filter.last?.generation == 2)
        var all = FamilyFilter(family: nil)
        #expect(all.take(path(1, true)) != nil && all.take(path(2, true)) != nil)
    }
}
