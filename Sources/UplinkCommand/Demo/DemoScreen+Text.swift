// SPDX-License-Identifier: Apache-2.0

extension DemoScreen {
    /// The screen's text. If the picture can be drawn, it comes before the text.
    ///
    /// - Parameter frame: How often the spinner has turned.
    func text(source: String, frame: Int) -> Text {
        Text {
            switch self {
            case .loading(let saysNoNetwork):
                Text.spinner(frame).color(.cyan)
                " Loading the picture …"
                if saysNoNetwork {
                    Text.lineBreak
                    Text("  No network. It starts as soon as the network is there.").color(.yellow)
                }
            case .picture(let result):
                Text("✓").color(.green).bold()
                " \(result.picture.info)"
                Text(", \(result.duration.inSeconds) after the start").dim()
                Text.lineBreak
                Text("  \(source)").dim()
            case .failure(let failure):
                Text("✗ \(failure.headline)").color(.red).bold()
                Text.lineBreak
                "  \(failure.reason)"
                Text.lineBreak
                Text("  \(source)").dim()
            }
        }
    }

    /// What the keys do on this screen.
    var keys: Text {
        Text {
            if isFailure {
                Text("r").bold()
                Text(" try again   ").dim()
            }
            Text("q").bold()
            Text(" quit").dim()
        }
    }
}

extension Duration {
    /// The duration with one digit after the point, such as `1.2 s`.
    var inTenths: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }

    /// The duration with two digits after the point, such as `1.24 s`.
    var inSeconds: String {
        let hundredths = components.seconds * 100 + components.attoseconds / 10_000_000_000_000_000
        let fraction = String(hundredths % 100)
        return "\(hundredths / 100).\(fraction.count < 2 ? "0" : "")\(fraction) s"
    }
}
