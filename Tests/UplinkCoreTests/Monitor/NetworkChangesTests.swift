// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct NetworkChangesTests {
    private static func address(_ number: Int) -> [IPAddress] {
        IPAddress(bytes: [10, 0, UInt8(number >> 8), UInt8(number & 0xFF)]).map { [$0] } ?? []
    }

    @Test func thoseWhoListenAreToldAndOthersAreNot() async throws {
        let stub = StubNetworkChanges()
        stub.changeDefaultRoutes(of: .ipv4)
        #expect(!stub.isObserved)
        var changes = stub.changes.makeAsyncIterator()
        #expect(stub.isObserved)
        let address = try #require(IPAddress("192.0.2.10"))
        stub.remove(address)
        let change = try await changes.next()
        #expect(change == NetworkChange(removedAddresses: [address]))
    }

    @Test func whatASlowSubscriberHasNotTakenBecomesOneChange() async throws {
        let stub = StubNetworkChanges()
        var changes = stub.changes.makeAsyncIterator()
        for number in 0..<3 { for address in Self.address(number) { stub.remove(address) } }
        stub.changeDefaultRoutes(of: .ipv6)
        let expected = NetworkChange(
            removedAddresses: Set((0..<3).flatMap(Self.address)), changedDefaultRoutes: [.ipv6])
        #expect(try await changes.next() == expected)
        stub.changeDefaultRoutes(of: .ipv4)
        #expect(try await changes.next() == NetworkChange(changedDefaultRoutes: [.ipv4]))
    }

    @Test func theSameChangeTwiceIsToldTwice() async throws {
        let stub = StubNetworkChanges()
        var changes = stub.changes.makeAsyncIterator()
        for _ in 0..<2 {
            stub.changeDefaultRoutes(of: .ipv4)
            #expect(try await changes.next() == NetworkChange(changedDefaultRoutes: [.ipv4]))
        }
    }

    @Test func tooManyToNameIsEverything() async throws {
        let stub = StubNetworkChanges()
        var changes = stub.changes.makeAsyncIterator()
        for number in 0...NetworkChange.maximumAddresses {
            for address in Self.address(number) { stub.remove(address) }
        }
        #expect(try await changes.next() == .everything)
        let all = Set((0..<1000).flatMap(Self.address))
        #expect(NetworkChange(removedAddresses: all) == .everything)
        #expect(NetworkChange.everything.union(NetworkChange(changedDefaultRoutes: [.ipv4])) == .everything)
    }

    @Test func endsAndErrorsAreTold() async throws {
        let stub = StubNetworkChanges()
        var changes = stub.changes.makeAsyncIterator()
        stub.fail(NetworkMonitorError(.failed, message: "gone"))
        await #expect(throws: NetworkMonitorError.self) { try await changes.next() }
        #expect(try await changes.next() == nil)
        var again = stub.changes.makeAsyncIterator()
        stub.stop()
        #expect(try await again.next() == nil)
    }

    @Test func aCancelledTaskGetsTheEnd() async throws {
        let stub = StubNetworkChanges()
        let task = Task {
            var changes = stub.changes.makeAsyncIterator()
            return try await changes.next() == nil
        }
        task.cancel()
        #expect(try await task.value)
        #expect(!stub.isObserved)
    }

    @Test func descriptionsSayWhatChanged() throws {
        let address = try #require(IPAddress("192.0.2.10"))
        let change = NetworkChange(removedAddresses: [address], changedDefaultRoutes: [.ipv4])
        #expect(change.description == "192.0.2.10 removed, default route of ipv4 changed")
        #expect(NetworkChange.everything.description == "everything may have changed")
    }
}
