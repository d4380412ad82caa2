// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// A host on one of our links, such as a router. Two links may each have one with the same address.
struct Neighbour: Hashable {
    var address: IPAddress
    var interfaceIndex: UInt32
}
