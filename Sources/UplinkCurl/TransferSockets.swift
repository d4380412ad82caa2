// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import Glibc
import UplinkCore
import UplinkEventLoop

/// The sockets of a transfer: those that it opens while it connects, and the one that it is left with.
struct TransferSockets {
    /// Those that were opened for it.
    private(set) var all: [SocketIdentity] = []
    /// How many sockets were opened since the request last went out; zero if the connection was there already.
    var sinceRequest = 0
    /// The socket that libcurl last had watched; negative before.
    private(set) var watched: curl_socket_t = -1
    /// Whether one of the sockets is connected, or was.
    private(set) var hasConnected = false
    /// The socket on which the request's body goes out; negative before.
    var upload: curl_socket_t = -1
    /// This end of the connection on which the request went out. The port is negative before; the address is known only
    /// where something needs it.
    var localPort: CInt = -1
    var localAddress: String?
    /// The first forbidden address for which libcurl wanted a socket.
    var forbidden: IPAddress?
    /// The error if the system had no descriptor left (EMFILE, ENFILE).
    var shortage: CInt?
    /// The error if a socket could not be bound to its interface.
    private(set) var bindingError: CInt?

    /// The connection of a request for which sockets were opened. libcurl has closed those that connected too late or
    /// never; nil if several are left.
    var connection: SocketIdentity? {
        guard sinceRequest > 1 else { return sinceRequest == 1 ? all.last : nil }
        let connected = all.suffix(sinceRequest).filter(\.isConnected)
        return connected.count == 1 ? connected[0] : nil
    }

    /// Whether libcurl may connect to an address that has to be public; if not, records why.
    mutating func isPublic(_ address: IPAddress?) -> Bool {
        guard let address, address.isOnInternet else { return forbid(address) }
        for address in [address, address.embedded].compactMap(\.self) {
            switch LocalAddress.isOurs(address) {
            case false: break
            case true: return forbid(address)
            case nil:
                noteShortage()
                return false
            }
        }
        return true
    }

    private mutating func forbid(_ address: IPAddress?) -> Bool {
        forbidden = forbidden ?? address
        return false
    }

    /// Records that a socket was missing, if it was for want of a descriptor.
    mutating func noteShortage() { if errno == EMFILE || errno == ENFILE { shortage = errno } }

    /// Binds a new socket to an interface, if it is to be; if it cannot be, records why.
    mutating func bind(_ descriptor: curl_socket_t, to end: CurlTransport.LocalEnd?) -> Bool {
        guard case .interface(let name) = end,
            setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.utf8.count)) != 0
        else { return true }
        bindingError = errno
        return false
    }

    /// Records what libcurl waits for: on a socket that is not connected yet, to write.
    mutating func isWatched(_ descriptor: curl_socket_t, for interest: Readiness) {
        watched = descriptor
        if !all.isEmpty, interest.contains(.readable) { hasConnected = true }  // before, it looks a name up
    }

    mutating func add(_ socket: SocketIdentity) {
        all.append(socket)
        sinceRequest += 1
    }
}
