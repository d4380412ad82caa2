// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Computes the number that tells networks apart that look alike (FNV-1a, 64 bits): the same in every process, at any
/// time.
enum NetworkIdentity {
    /// - Parameter prefixLength: The prefix length of the source address.
    static func number(of path: FamilyPath, prefixLength: Int) -> UInt64? {
        guard path.isAvailable, let index = path.interfaceIndex else { return nil }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        }
        add(withUnsafeBytes(of: index.bigEndian) { Array($0) })
        add(path.gateway?.bytes ?? [])
        add([0xFF])
        add(path.source?.network(ofLength: prefixLength).bytes ?? [])
        return hash
    }
}
