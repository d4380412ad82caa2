// SPDX-License-Identifier: Apache-2.0
import Harness
import PlainC

/// HTTP from nginx on loopback, beside plain C over the same libuv and libcurl, AsyncHTTPClient and URLSession.
@main
enum Main {
    static func main() async {
        do {
            try Server.start()
        } catch {
            fatalError("http: \(error)")
        }
        await Suite("http", small + large + huge).main()
    }

    private static var small: [Experiment] {
        [
            Experiment(
                "http-small", title: "Small answers, 64 requests at once", operation: "request", counts: [20_000],
                columns: [.contextSwitches], subjects: asked { _ in .small(at: 64) }),
            Experiment(
                "http-sequence", title: "Small answers, one after the other", operation: "request", counts: [5000],
                columns: [.wall, .contextSwitches], subjects: asked { _ in .small(at: 1) }),
            Experiment(
                "http-tls-small", title: "Small answers over TLS, 16 requests at once", operation: "request",
                counts: [5000], columns: [.contextSwitches],
                subjects: trusting(asked { _ in .small(at: 16, isTLS: true) })),
            Experiment(
                "http-open", title: "Answers that take four seconds, all at once", operation: "request",
                counts: [2000], columns: [.peak], subjects: subjects { .open($0) }),
        ]
    }

    private static var large: [Experiment] {
        [
            Experiment(
                "http-stream", title: "One large body as a stream of chunks", operation: "MiB", counts: [1024],
                columns: [.peakOfAll, .contextSwitches],
                subjects: subjects { .large($0, to: .count) }),
            Experiment(
                "http-tls-stream", title: "The same over TLS", operation: "MiB", counts: [1024],
                columns: [.peakOfAll, .contextSwitches],
                subjects: trusting(subjects { .large($0, to: .count, isTLS: true) })),
            Experiment(
                "http-collect", title: "One large body into memory", operation: "MiB", counts: [256],
                columns: [.peakOfAll, .contextSwitches], subjects: subjects { .large($0, to: .memory) }),
            Experiment(
                "http-file", title: "One large body into a file", operation: "MiB", counts: [256, 1024],
                columns: [.peakOfAll, .contextSwitches], subjects: subjects { .large($0, to: .file) }),
        ]
    }

    /// For `--largest` alone: the server needs as much page cache.
    private static var huge: [Experiment] {
        [
            Experiment(
                "http-huge", title: "A body of 10 GiB as a stream of chunks", operation: "MiB", counts: [10_240],
                columns: [.peakOfAll], isOnRequest: true,
                subjects: Array(subjects { .large($0, to: .count) }.prefix(4)))
        ]
    }

    /// Those that can be told to trust an authority of one's own: URLSession cannot, on Linux.
    private static func trusting(_ subjects: [Subject]) -> [Subject] { subjects.filter { $0.name != "URLSession" } }

    /// With plain C also as a library with a thread of its own is used: what that thread costs by itself.
    private static func asked(_ work: @escaping @Sendable (Int) -> Work) -> [Subject] {
        let asked = Subject("plain C, asked from another thread") { try work($0.count).plain($0, isAsked: true) }
        var all = subjects(work)
        all.insert(asked, at: 1)
        return all
    }

    private static func subjects(_ work: @escaping @Sendable (Int) -> Work) -> [Subject] {
        [
            Subject("plain C, libcurl over libuv") { try work($0.count).plain($0) },
            Subject("Uplink, consumer on the loop") { try await work($0.count).uplink($0, onLoop: true) },
            Subject("Uplink, consumer on the default pool") { try await work($0.count).uplink($0, onLoop: false) },
            Subject("AsyncHTTPClient") { try await work($0.count).asyncHTTPClient($0) },
            Subject("URLSession") { try await work($0.count).urlSession($0) },
        ]
    }
}
