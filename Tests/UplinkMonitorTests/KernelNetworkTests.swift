// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing
import UplinkCore

@testable import UplinkMonitor

/// The monitor's kernel side over a kernel that is made up: bytes in, paths out.
@Suite(.timeLimit(.minutes(1)))
struct KernelNetworkTests {
    @Test func aPathIsMadeOfBytesAlone() throws {
        let kernel = StandInKernel()
        let network = try makeNetwork(kernel)
        let path = try network.completed(network.path())
        #expect(path.isSatisfied)
        #expect(path.ipv4.gateway == IPAddress("192.0.2.1"))
        #expect(path.ipv4.source == IPAddress("192.0.2.10"))
        #expect(path.ipv4.gatewayState == .stale)
        #expect(path.interfaces.map(\.name) == ["eth0"])
        #expect(path.ipv6.unsatisfiedReason == .noAddress)
        #expect(path.networkID != nil)
    }

    /// What is read first waits for whoever changes the network; what is asked after it is then about all of the
    /// change.
    @Test func linksAreReadBeforeRoutes() throws {
        let kernel = StandInKernel()
        let network = try makeNetwork(kernel)
        for _ in 0..<2 {
            kernel.questions = []
            _ = try network.path()
            #expect(kernel.questions.first == Wire.getLink)
            #expect(kernel.questions.contains(Wire.getRoute))
            #expect(kernel.questions.filter { $0 == Wire.getLink }.count <= 2)
        }
    }

    /// It can send from the address before its message has been read.
    @Test func anAddressThatTheKernelIsStillToTellOfIsKnown() throws {
        let kernel = StandInKernel()
        let network = try makeNetwork(kernel)
        kernel.source = [192, 0, 2, 11]
        kernel.events = [message(Wire.newAddress, addressPayload("192.0.2.11"))]
        let path = try network.path()
        #expect(path.ipv4.source == IPAddress("192.0.2.11"))
        #expect(path.primaryInterface?.addresses.map(\.description) == ["192.0.2.10", "192.0.2.11"])
        kernel.source = [192, 0, 2, 12]  // of which it tells nothing
        kernel.questions = []
        #expect(try network.path().isSatisfied)
        #expect(kernel.questions.filter { $0 == Wire.getLink }.count <= 2)
    }

    @Test func anEventThatMattersIsToldFromOneThatDoesNot() throws {
        let kernel = StandInKernel()
        let network = try makeNetwork(kernel)
        kernel.events = [route(to: [10, 0, 0, 0], length: 8)]
        #expect(try !network.readEvents())
        kernel.events = [message(Wire.newAddress, addressPayload("192.0.2.10"))]
        #expect(try !network.readEvents())  // known already
        kernel.events = [message(Wire.newAddress, addressPayload("192.0.2.10", flags: 0x20))]
        #expect(try network.readEvents())  // deprecated now
        for event in [
            route(to: [0, 0, 0, 0], length: 1), message(Wire.newLink, linkPayload()),
            message(Wire.newRule, routePayload()),
        ] {
            kernel.events = [event]
            #expect(try network.readEvents())
        }
        #expect(network.statistics.messages == 6)
    }

    @Test func damagedEventsLetAllBeReadAnew() throws {
        let kernel = StandInKernel()
        let network = try makeNetwork(kernel)
        kernel.questions = []
        kernel.events = [[1, 2, 3]]
        #expect(try network.readEvents())
        #expect(network.statistics.resyncs == 1)
        #expect(kernel.questions == [Wire.getLink, Wire.getAddress])
    }

    @Test func afterAGapTheQueueIsReadUntilItIsFoundEmpty() throws {
        let kernel = StandInKernel()
        let network = try makeNetwork(kernel)
        kernel.events = [[1, 2, 3]] + Array(repeating: route(to: [10, 0, 0, 0], length: 8), count: 2047)
        #expect(try network.readEvents())
        #expect(network.hasToReadOn)  // though the kernel has no more to tell
        #expect(network.statistics.resyncs == 0)
        #expect(try network.readEvents())
        #expect(!network.hasToReadOn)
        #expect(network.statistics.resyncs == 1)
    }

    /// What is read while older messages wait may be overwritten by them.
    @Test func aGapThatIsNotYetClosedSurvivesASleep() throws {
        let kernel = StandInKernel()
        let network = try makeNetwork(kernel)
        kernel.events = [[1, 2, 3]] + Array(repeating: route(to: [10, 0, 0, 0], length: 8), count: 2048)
        #expect(try network.readEvents())
        try network.resync()
        #expect(try network.readEvents())
        #expect(network.statistics.resyncs == 2)
        #expect(try !network.readEvents())
    }

    @Test func addressesThatAreWatchedForAWhileAreForgottenBeforeTheyAreTooMany() throws {
        let kernel = StandInKernel()
        let network = try makeNetwork(kernel)
        for number in 0..<500 { network.watch([IPAddress(ipv4: 0xC633_6400 + UInt32(number))]) }
        let last = try #require(kernel.filter?.instructions.count)
        #expect(last < 1000)
        kernel.events = [route(to: [45, 0, 0, 1], length: 32)]
        #expect(try network.readEvents())  // the probes always count
    }

    private func makeNetwork(_ kernel: StandInKernel) throws -> KernelNetwork {
        var configuration = LinuxNetworkMonitor.Configuration()
        configuration.resolverFile = nil
        return try KernelNetwork(configuration, events: kernel.eventTransport, query: kernel)
    }

    private func route(to destination: [UInt8], length: UInt8) -> [UInt8] {
        message(
            Wire.newRoute, routePayload(prefixLength: length) { $0.add(attribute: Wire.routeDestination, destination) })
    }
}

/// A kernel with one link, one address and one default route of IPv4.
private final class StandInKernel: NetlinkTransport {
    /// The types of the questions that came.
    var questions: [Int] = []
    /// Datagrams that are going to be told.
    var events: [[UInt8]] = []
    /// The address that it sends from.
    var source: [UInt8] = [192, 0, 2, 10]
    /// The filter that was attached last.
    var filter: RouteFilter?
    private var answers: [[UInt8]] = []
    private var datagram: [UInt8] = []

    var eventTransport: any NetlinkTransport { Events(of: self) }

    func send(_ request: [UInt8]) throws(NetlinkError) {
        let type = Int(request[4])
        let sequence = request.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self) }
        questions.append(type)
        let isDump = request[7] & 0x3 != 0
        answers = [answer(to: type, family: CInt(request[16]), sequence, isDump ? Wire.multi : 0)]
        if isDump { answers.append(message(Wire.done, sequence: sequence, flags: Wire.multi, [0, 0, 0, 0])) }
    }

    private func answer(to type: Int, family: CInt, _ sequence: UInt32, _ flags: UInt16) -> [UInt8] {
        switch type {
        case Wire.getLink: return message(Wire.newLink, sequence: sequence, flags: flags, linkPayload())
        case Wire.getAddress:
            return message(Wire.newAddress, sequence: sequence, flags: flags, addressPayload("192.0.2.10"))
        case Wire.getRoute where family == AF_INET:
            let payload = routePayload {
                $0.add(attribute: Wire.routeInterface, UInt32(40))
                $0.add(attribute: Wire.routeGateway, [192, 0, 2, 1])
                $0.add(attribute: Wire.routeSource, source)
            }
            return message(Wire.newRoute, sequence: sequence, payload)
        case Wire.getNeighbour:
            return message(Wire.newNeighbour, sequence: sequence, [2, 0, 0, 0, 40, 0, 0, 0, 4, 0, 0, 1])
        default:
            var refusal = Bytes()
            refusal.add(-ENETUNREACH)
            return message(Wire.error, sequence: sequence, refusal.bytes)
        }
    }

    func receive() throws(NetlinkError) -> NetlinkReceived {
        guard !answers.isEmpty else { return .empty }
        datagram = answers.removeFirst()
        return .datagram
    }

    func withDatagram<Result>(_ body: (RawSpan) -> Result) -> Result { datagram.withUnsafeBytes { body($0.bytes) } }

    private final class Events: NetlinkTransport {
        private let kernel: StandInKernel
        private var datagram: [UInt8] = []

        init(of kernel: StandInKernel) { self.kernel = kernel }

        func send(_ message: [UInt8]) throws(NetlinkError) {}

        func receive() throws(NetlinkError) -> NetlinkReceived {
            guard !kernel.events.isEmpty else { return .empty }
            datagram = kernel.events.removeFirst()
            return .datagram
        }

        func withDatagram<Result>(_ body: (RawSpan) -> Result) -> Result { datagram.withUnsafeBytes { body($0.bytes) } }

        func attach(_ filter: RouteFilter) -> Bool {
            kernel.filter = filter
            return true
        }
    }
}
