// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A picture of the results' growth: processor time per operation over the number of operations, both logarithmic. A
/// line that stays level grows as the work does.
struct Plot {
    private static let size = (width: 720.0, height: 420.0)
    private static let frame = (left: 70.0, top: 44.0, right: 250.0, bottom: 46.0)
    /// Colours that are told apart on white and on black, also by those who see no red or no green.
    private static let colours = [
        "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#888888",
    ]

    private let results: Results
    private let across: ClosedRange<Double>
    private let up: ClosedRange<Double>

    /// Nil when there is no growth to be seen, because there is one count only.
    init?(of results: Results) {
        let costs = results.medians.values.flatMap { $0.values.map(\.cpu) }.filter { $0 > 0 }
        guard results.counts.count > 1, let low = results.counts.min(), let high = results.counts.max(),
            let least = costs.min(), let most = costs.max()
        else { return nil }
        self.results = results
        across = log10(Double(low))...log10(Double(high))
        up = log10(least).rounded(.down)...max(log10(most).rounded(.up), log10(least).rounded(.down) + 1)
    }

    var svg: String {
        let (width, height) = Self.size
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" font-family="sans-serif" \
            font-size="12">
            <style>
            text { fill: #24292f } .grid { stroke: #d0d7de } .back { fill: #ffffff }
            @media (prefers-color-scheme: dark) {
            text { fill: #d0d7de } .grid { stroke: #3d444d } .back { fill: #0d1117 }
            }
            </style>
            <rect class="back" width="\(width)" height="\(height)"/>
            <text x="\(Self.frame.left)" y="24" font-size="15">\(escaped(results.experiment.title)): \
            CPU time per \(escaped(results.experiment.operation))</text>
            """
        ]
        lines += grid + curves
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    private var grid: [String] {
        let (right, bottom) = (Self.size.width - Self.frame.right, Self.size.height - Self.frame.bottom)
        var lines: [String] = []
        for power in Int(up.lowerBound)...Int(up.upperBound) {
            let height = y(Double(power))
            lines.append(#"<path class="grid" d="M\#(Self.frame.left) \#(height)H\#(right)"/>"#)
            lines.append(label(time(pow10(power)), x: Self.frame.left - 8, y: height + 4, anchor: "end"))
        }
        for count in results.counts {
            let place = x(log10(Double(count)))
            lines.append(#"<path class="grid" d="M\#(place) \#(Self.frame.top)V\#(bottom)"/>"#)
            lines.append(label(grouped(count), x: place, y: bottom + 18, anchor: "middle"))
        }
        lines.append(label("how many at once", x: (Self.frame.left + right) / 2, y: bottom + 36, anchor: "middle"))
        return lines
    }

    /// Each with its name at its right end, and the names moved apart where they would cover each other.
    private var curves: [String] {
        var lines: [String] = []
        var names: [(text: String, colour: String, from: Double, y: Double)] = []
        for (place, subject) in results.experiment.subjects.enumerated() {
            let colour = Self.colours[place % Self.colours.count]
            let points = results.counts.compactMap { count in
                results[subject, count].flatMap { figures in
                    figures.cpu > 0 ? (x: x(log10(Double(count))), y: y(log10(figures.cpu))) : nil
                }
            }
            guard let last = points.last else { continue }
            let path = points.map { "\(rounded($0.x)) \(rounded($0.y))" }.joined(separator: "L")
            lines.append(##"<path fill="none" stroke="\##(colour)" stroke-width="2" d="M\##(path)"/>"##)
            for point in points {
                lines.append(
                    #"<circle cx="\#(rounded(point.x))" cy="\#(rounded(point.y))" r="3.5" fill="\#(colour)"/>"#)
            }
            names.append((subject.name, colour, last.x, last.y))
        }
        let right = Self.size.width - Self.frame.right
        var free = Self.frame.top
        for name in names.sorted(by: { $0.y < $1.y }) {
            let height = max(name.y, free)
            free = height + 16
            lines.append(
                #"<path fill="none" stroke="\#(name.colour)" stroke-dasharray="2 3" "#
                    + #"d="M\#(rounded(name.from)) \#(rounded(name.y))L\#(right + 14) \#(rounded(height))"/>"#)
            lines.append(label(name.text, x: right + 18, y: height + 4, anchor: "start"))
        }
        return lines
    }

    private func label(_ text: String, x: Double, y: Double, anchor: String) -> String {
        #"<text x="\#(rounded(x))" y="\#(rounded(y))" text-anchor="\#(anchor)">\#(escaped(text))</text>"#
    }

    private func x(_ exponent: Double) -> Double {
        let share = (exponent - across.lowerBound) / (across.upperBound - across.lowerBound)
        return Self.frame.left + share * (Self.size.width - Self.frame.left - Self.frame.right)
    }

    private func y(_ exponent: Double) -> Double {
        let share = (exponent - up.lowerBound) / (up.upperBound - up.lowerBound)
        return Self.size.height - Self.frame.bottom
            - share * (Self.size.height - Self.frame.top - Self.frame.bottom)
    }
}

private func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

private func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
}

private func pow10(_ power: Int) -> Double { pow(10, Double(power)) }
