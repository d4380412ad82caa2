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
        var (written, before): (Int, NetworkPath?) = (0, nil)
        for try await whole in monitor.paths {
            let path = family.map(whole.restricted) ?? whole
            if let before, family != nil, path.isSame(as: before) { continue }
            do {
                try output.write(line(for: path, after: before) + "\n")
            } catch let error as OutputError where error.isClosed {
                return  // the reader has seen enough
            }
            before = path
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
