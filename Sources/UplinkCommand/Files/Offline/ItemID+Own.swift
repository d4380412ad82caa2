// SPDX-License-Identifier: Apache-2.0
#if Store
extension ItemID {
    private static let ownPrefix = "ffffffffffff"

    /// Whether it is one of ours, which no server knows.
    var isOwn: Bool { text.hasPrefix(Self.ownPrefix) }

    /// An id of our own.
    static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef")
        let text =
            ownPrefix
            + (ownPrefix.count..<length).map { _ in String(digits[Int.random(in: 0..<16, using: &generator)]) }.joined()
        guard let id = Self(text) else { preconditionFailure("40 digits are an id") }
        return id
    }
}
#endif
