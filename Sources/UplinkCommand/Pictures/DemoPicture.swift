// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The picture that the demo serves to itself: an evening in the mountains, with a mast that has a connection.
enum DemoPicture {
    static let width = 192
    static let height = 120

    /// The picture as a PNG file.
    static let file = PNGWriter.file(
        width: width, height: height,
        pixels: (0..<height).flatMap { y in
            (0..<width).flatMap { x in color(Double(x) + 0.5, Double(y) + 0.5).bytes }
        })

    /// Red, green and blue between 0 and 1.
    private struct Color {
        var red, green, blue: Double

        init(_ red: Double, _ green: Double, _ blue: Double) { (self.red, self.green, self.blue) = (red, green, blue) }

        var bytes: [UInt8] { [red, green, blue].map { UInt8(max(0, min(255, $0 * 255))) } }

        func mixed(with other: Self, _ share: Double) -> Self {
            let share = max(0, min(1, share))
            return Self(
                red + (other.red - red) * share, green + (other.green - green) * share,
                blue + (other.blue - blue) * share)
        }
    }

    private static let night = Color(0.07, 0.08, 0.25)
    private static let dusk = Color(0.55, 0.22, 0.48)
    private static let glow = Color(1.0, 0.62, 0.32)
    private static let sunlight = Color(1.0, 0.93, 0.72)
    private static let signal = Color(0.55, 0.95, 1.0)
    private static let shore = 96.0
    private static let sun = (x: 70.0, y: 72.0, radius: 15.0)
    private static let mastTop = (x: 147.0, y: 31.0)

    private static func color(_ x: Double, _ y: Double) -> Color {
        guard y > shore else { return land(x, y) }
        // The lake mirrors the land, in waves.
        let depth = (y - shore) / (Double(height) - shore)
        let wave = sin(y * 2.1) * (0.8 + 3 * depth) + sin(x * 0.35 + y) * 0.8
        return land(x + wave, shore - (y - shore) * 1.6).mixed(with: night, 0.25 + 0.45 * depth)
    }

    private static func land(_ x: Double, _ y: Double) -> Color {
        var color = sky(x, y)
        let ridges: [(base: Double, rise: Double, pace: Double, shift: Double, color: Color)] = [
            (72, 13, 0.045, 0.4, Color(0.42, 0.22, 0.46)), (82, 11, 0.062, 2.1, Color(0.24, 0.14, 0.36)),
            (91, 9, 0.083, 1.94, Color(0.10, 0.08, 0.22)),
        ]
        for (index, ridge) in ridges.enumerated() {
            if index == 2 { color = mast(x, y, on: color) }  // it is behind the nearest hill
            let top =
                ridge.base - ridge.rise * sin(x * ridge.pace + ridge.shift)
                - 2.6 * sin(x * ridge.pace * 3.1 + ridge.shift) - 1.1 * sin(x * ridge.pace * 7.7)
            color = color.mixed(with: ridge.color, y - top + 0.5)
        }
        return color
    }

    private static func sky(_ x: Double, _ y: Double) -> Color {
        let height = y / shore
        var color = height < 0.5 ? night.mixed(with: dusk, height * 2) : dusk.mixed(with: glow, height * 2 - 1)
        let toSun = hypot(x - sun.x, y - sun.y)
        color = color.mixed(with: sunlight, 0.55 * exp(-(toSun - sun.radius) / 22)).mixed(
            with: sunlight, sun.radius - toSun + 0.5)
        // A star if a hash of the cell says so, with fewer towards the horizon.
        var hash = UInt32(truncatingIfNeeded: Int(x) &* 668_265_263 &+ Int(y) &* 374_761_393)
        hash = (hash ^ hash >> 13) &* 1_274_126_177
        return (hash ^ hash >> 16) & 0xFF < 2 && height < 0.45
            ? color.mixed(with: Color(1, 1, 1), 0.85 - height * 1.5) : color
    }

    private static func mast(_ x: Double, _ y: Double, on background: Color) -> Color {
        var color = background
        let (dx, dy) = (x - mastTop.x, y - mastTop.y)
        if dy > 0, dy < 60 {
            let half = 0.8 + dy * 0.09
            let isStrut = abs(abs(dx) - half) < 0.75 || (abs(dx) < half && abs(sin(dy * 0.42) * half - dx) < 0.8)
            if isStrut { color = Color(0.05, 0.04, 0.12) }
        }
        let distance = hypot(dx, dy)
        if distance < 2.4 { return color.mixed(with: Color(1, 0.35, 0.3), 2.9 - distance) }
        // Waves to both sides, weaker with the distance.
        if abs(dy) < abs(dx) * 0.85, distance < 29 {
            let ring = abs(distance - (distance / 7).rounded() * 7)
            color = color.mixed(with: signal, (1.5 - ring) * (1 - distance / 32) * (distance > 5 ? 1 : 0))
        }
        return color
    }
}
