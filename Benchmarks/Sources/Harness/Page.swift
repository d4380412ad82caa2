// SPDX-License-Identifier: Apache-2.0
import Glibc
import PlainC

/// The part of the page that one suite writes: between its two marks, all else is left as it is.
struct Page {
    let path: String

    func replace(_ suite: String, with text: String) throws(FileError) {
        let (begin, end) = ("<!-- \(suite): written by scripts/benchmark -->", "<!-- \(suite): end -->")
        guard let page = readWhole(path), let from = page.firstRange(of: begin), let to = page.firstRange(of: end),
            from.upperBound <= to.lowerBound
        else {
            complain("\(path) has no place for \(suite), between `\(begin)` and `\(end)`")
            throw FileError(path: path, errno: ENOENT)
        }
        try write(
            page[..<from.upperBound] + "\n\n\(text)\n\n" + page[to.lowerBound...], to: path)
    }

    private func write(_ text: String, to path: String) throws(FileError) { try Harness.write(text, to: path) }
}

/// On what and when the figures were taken.
struct Circumstances {
    /// How busy the machine was with other work before the first run, in processes.
    private let load = (readWhole("/proc/loadavg") ?? "").prefix { $0 != " " }

    func sentence(command: String, rounds: Int) -> String {
        var name = utsname()
        uname(&name)
        let release = withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let processor = value(of: "model name", in: "/proc/cpuinfo") ?? "unknown processor"
        let memory =
            (value(of: "MemTotal", in: "/proc/meminfo").flatMap { Double($0.prefix { $0 != " " }) } ?? 0) / 1_048_576
        return """
            `\(command)` on \(date), \(sysconf(CInt(_SC_NPROCESSORS_ONLN))) × \(processor), \
            \(Int(memory.rounded())) GiB, Linux \(release), \(swiftVersion), libuv \
            \(String(cString: plain_libuv_version())). Medians of \(rounds) rounds; load average before: \(load).
            """
    }

    private var date: String {
        var (now, parts) = (time(nil), tm())
        gmtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%d", &parts)
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// What scripts/benchmark read from the compiler.
    private var swiftVersion: String { getenv("UPLINK_SWIFT_VERSION").map { String(cString: $0) } ?? "Swift" }

    private func value(of key: String, in path: String) -> String? {
        for line in (readWhole(path) ?? "").split(separator: "\n") where line.hasPrefix(key) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            return String(line[line.index(after: colon)...].drop(while: \.isWhitespace))
        }
        return nil
    }
}
