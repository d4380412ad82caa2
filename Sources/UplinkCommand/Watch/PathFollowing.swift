// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkMonitor

/// Writes a monitor's paths to an output, one line each.
struct PathFollowing: Sendable {
    let monitor: LinuxNetworkMonitor
    let output: Output
    var isJSON = false
    var family: IPAddress.Family?
    var count = Int.max

    /// Goes on until this many paths are written, or the reader has gone.
    func run() async throws {
        var written = 0
        var filter = FamilyFilter(family: family)
        for try await whole in monitor.paths {
            let before = filter.last
            guard let path = filter.take(whole) else { continue }
            do {
                try output.write(line(for: path, after: before) + "\n")
            } catch let error as OutputError where error.isClosed {
                return  // the reader has seen enough
            }
            written += 1
            if written == count { return }
        }
    }

    private func line(for path: NetworkPath, after before: NetworkPath?) -> String {
        if isJSON { return path.json }
        let line = PathLine(time: PathLine.timeOfDay(), news: PathNews(path, after: before))
        return line.text.rendered(withStyles: output.hasStyles)
    }
}

/// Leaves out what says nothing new about one family.
struct FamilyFilter {
    let family: IPAddress.Family?
    /// What was taken last.
    private(set) var last: NetworkPath?

    init(family: IPAddress.Family?) { self.family = family }

    /// The path as it concerns the family; nil if it is as before.
    mutating func take(_ whole: NetworkPath) -> NetworkPath? {
        let path = family.map(whole.restricted) ?? whole
        guard family != nil, let old = last, path.isSame(as: old) else {
            last = path
            return path
        }
        // It is left out, but it was there: the next path leaves no gap behind it.
        if path.generation == old.generation + 1 { last?.generation = path.generation }
        return nil
    }
}
