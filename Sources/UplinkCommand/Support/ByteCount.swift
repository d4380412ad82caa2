// SPDX-License-Identifier: Apache-2.0

/// A number of bytes as a person reads it: `512 bytes`, `74 kB`, `1.5 MB` (powers of ten).
struct ByteCount: CustomStringConvertible {
    let bytes: Int

    init(_ bytes: Int) { self.bytes = bytes }

    var description: String {
        var (amount, units) = (Double(bytes), ["kB", "MB", "GB", "TB", "PB", "EB"][...])
        guard bytes >= 1000 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        amount /= 1000
        while amount >= 999.5, units.count > 1 {
            amount /= 1000
            units.removeFirst()
        }
        let number = amount < 9.95 ? "\((amount * 10).rounded() / 10)" : "\(Int(amount.rounded()))"
        return "\(number) \(units.first ?? "EB")"
    }
}
