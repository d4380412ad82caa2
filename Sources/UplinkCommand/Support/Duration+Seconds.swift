// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// Seconds that may be infinite or huge, as the longest duration that clocks can take.
    static func saturating(seconds: Double) -> Self { seconds < 1e9 ? .seconds(seconds) : .seconds(1_000_000_000) }
}
