// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore

@testable import UplinkCurl

/// That nothing is done to a descriptor whose number another socket has by now.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionTableTests {
    /// A connection to a listener, both ends.
    private func connection() throws -> (near: CInt, far: CInt) {
        let (listener, port) = try RawServer.listen(backlog: 1)
        defer { close(listener) }
        let near = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = SocketAddress(try #require(IPAddress("127.0.0.1")), port: port)
        let status = name.withSockaddr { connect(near, $0, $1) }
        try #require(status == 0)
        return (near, accept(listener, nil, nil))
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
    }
}
