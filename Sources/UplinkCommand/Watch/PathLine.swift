// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// One line for a person: the time of day, and what is new.
struct PathLine {
    let time: String
    let news: PathNews

    var text: Text {
        Text {
            Text(time).dim()
            "  "
            for (number, item) in news.items.enumerated() {
                if number > 0 { "; " }
                switch item.mood {
                case .good: Text(item.words).color(.green)
                case .bad: Text(item.words).color(.red)
                case .notable: Text(item.words).color(.yellow)
                }
            }
        }
    }

    /// The time of day now, as `14:05:59`.
    static func timeOfDay() -> String {
        var (now, parts) = (Glibc.time(nil), tm())
        localtime_r(&now, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}
