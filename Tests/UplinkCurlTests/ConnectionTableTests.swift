// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore

@testable import UplinkCurl

/// What is done to connections, and that nothing is done to a descriptor whose number another socket has by now.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionTableTests {
    /// A connection to a listener, both ends.
    private func connection() throws -> (near: CInt, far: CInt) {
        let (listener, port) = try LoopbackSocket.listen(backlog: 1)
        defer { close(listener) }
        let near = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = SocketAddress(try #require(IPAddress("127.0.0.1")), port: port)
        let status = name.withSockaddr { connect(near, $0, $1) }
        try #require(status == 0)
        return (near, accept(listener, nil, nil))
    }

    /// A socket with this end and no other. The host need not have the address (IP_FREEBIND, ip(7)).
    private func bound(to address: String) throws -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_IP), IP_FREEBIND, &yes, socklen_t(MemoryLayout<CInt>.size))
        var name = SocketAddress(try #require(IPAddress(address)), port: 0)
        let status = name.withSockaddr { bind(descriptor, $0, $1) }
        try #require(status == 0)
        return descriptor
    }

    private func isOpen(_ descriptor: CInt) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, CInt(MSG_DONTWAIT)) < 0 && errno == EAGAIN
    }

    @Test func connectionsFromAnAddressThatIsGoneAreShutDown() throws {
        let table = ConnectionTable()
        let (near, far) = try connection()
        defer {
            close(near)
            close(far)
        }
        _ = table.opened(near)
        table.shutDown { $0.description == "192.0.2.1" }
        #expect(isOpen(far))
        table.shutDown { $0.description == "127.0.0.1" }
        #expect(!isOpen(far))
    }

    @Test func aStrangerWithTheSameNumberIsLeftAlone() throws {
        let table = ConnectionTable()
        let (near, far) = try connection()
        let identity = table.opened(near)
        let stranger = try connection()
        defer { for descriptor in [near, far, stranger.near, stranger.far] { close(descriptor) } }
        #expect(identity.isCurrent && identity.isConnected)
        try #require(dup2(stranger.near, near) == near)  // closes the first connection and takes its number
        #expect(!identity.isCurrent && !identity.isConnected)
        table.shutDown { _ in true }
        table.used(near, atMost: 1, isFree: true)
        #expect(isOpen(stranger.far))
    }

    /// All else is, when the network has changed.
    @Test func uploadsAndWhatStaysWithinTheHostAreNotLimited() throws {
        let table = ConnectionTable()
        let (near, far) = try connection()
        let (old, upload) = (try bound(to: "192.0.2.77"), try bound(to: "192.0.2.78"))
        defer { for descriptor in [near, far, old, upload] { close(descriptor) } }
        for descriptor in [near, old, upload] {
            _ = table.opened(descriptor)
            ConnectionTable.limit(descriptor, to: 30_000)
            #expect(unacknowledgedTime(of: descriptor) == 30_000)
        }
        table.limitUnacknowledged(to: 5_000, sparing: [upload])
        #expect(unacknowledgedTime(of: old) == 5_000)
        #expect(unacknowledgedTime(of: upload) == 30_000)
        #expect(unacknowledgedTime(of: near) == 30_000)
    }

    @Test func aStrangerWithTheSameNumberIsNotLimited() throws {
        let table = ConnectionTable()
        let (old, stranger) = (try bound(to: "192.0.2.77"), try bound(to: "192.0.2.78"))
        defer { for descriptor in [old, stranger] { close(descriptor) } }
        _ = table.opened(old)
        ConnectionTable.limit(stranger, to: 30_000)
        try #require(dup2(stranger, old) == old)  // closes the first socket and takes its number
        table.limitUnacknowledged(to: 5_000)
        #expect(unacknowledgedTime(of: old) == 30_000)
    }

    @Test func aConnectionThatHasServedEnoughIsShutDown() throws {
        let table = ConnectionTable()
        let (near, far) = try connection()
        defer {
            close(near)
            close(far)
        }
        _ = table.opened(near)
        table.used(near, atMost: 2, isFree: true)
        #expect(isOpen(far))
        table.used(near, atMost: 2, isFree: false)
        #expect(isOpen(far))
        table.used(near, atMost: 2, isFree: true)
        #expect(!isOpen(far))
    }

    @Test func addressesOfThisHostAreThereAndOthersAreGone() throws {
        let (own, other) = (try #require(IPAddress("127.0.0.1")), try #require(IPAddress("192.0.2.123")))
        #expect(!LocalAddress.isGone(own))
        #expect(LocalAddress.isGone(other))
        #expect(LocalAddress.isOurs(own) == true && LocalAddress.isOurs(other) == false)
    }
}
