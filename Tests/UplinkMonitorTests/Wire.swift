// SPDX-License-Identifier: Apache-2.0

/// Numbers of the netlink protocol, written out: what stands on the wire does not depend on a header.
enum Wire {
    // Types of messages.
    static let error = 2
    static let done = 3
    static let newLink = 16
    static let deleteLink = 17
    static let getLink = 18
    static let newAddress = 20
    static let getAddress = 22
    static let newRoute = 24
    static let deleteRoute = 25
    static let getRoute = 26
    static let newNeighbour = 28
    static let deleteNeighbour = 29
    static let getNeighbour = 30
    static let newRule = 32

    // Flags of messages.
    static let multi: UInt16 = 0x2
    static let dumpInterrupted: UInt16 = 0x10
    static let exclusive: Int32 = 0x200
    static let create: Int32 = 0x400

    // Attributes of links.
    static let linkName = 3
    static let linkMTU = 4
    static let linkWireless = 11
    static let linkState = 16
    static let linkInfo = 18
    static let linkInfoKind = 1

    // Attributes of addresses.
    static let address = 1
    static let localAddress = 2
    static let addressFlags = 8

    // Attributes of routes.
    static let routeDestination = 1
    static let routeInterface = 4
    static let routeGateway = 5
    static let routeMetric = 6
    static let routeSource = 7
    static let routeCacheInfo = 12
    static let routeTable = 15
    static let routeVia = 18

    // Attributes of neighbours, and their states.
    static let neighbourAddress = 1
    static let reachable: UInt16 = 0x02
    static let stale: UInt16 = 0x04
    static let failed: UInt16 = 0x20

    // Kinds of routes.
    static let unicast = 1
}
