// SPDX-License-Identifier: Apache-2.0
import Glibc
import Harness
import PlainC

/// What one row has every subject do.
struct Work: Sendable {
    /// Where bodies go.
    enum Sink: Sendable { case count, memory, file }

    /// The path of the URL.
    let path: String
    var isTLS = false
    /// Requests at once.
    var concurrency = 1
    var sink = Sink.count
    /// The bytes of each body.
    let body: Int
    /// How many requests the row's count stands for.
    let requests: @Sendable (_ count: Int) -> Int

    /// Many small answers; the count is their number.
    static func small(at concurrency: Int, isTLS: Bool = false) -> Self {
        Self(
            path: "/small", isTLS: isTLS, concurrency: concurrency, sink: .memory, body: Server.smallSize,
            requests: { $0 })
    }

    /// Answers that take seconds, all at once; the count is their number.
    static func open(_ count: Int) -> Self {
        Self(path: "/slow", concurrency: count, sink: .memory, body: Server.slowSize, requests: { $0 })
    }

    /// One large answer; the count is its size in MiB.
    static func large(_ count: Int, to sink: Sink, isTLS: Bool = false) -> Self {
        Self(path: "/zeros-\(count)", isTLS: isTLS, sink: sink, body: count << 20, requests: { _ in 1 })
    }

    var url: String { Server.url(path, tls: isTLS) }
    /// A small request on the same server, which opens what is to be open before the measuring begins.
    var warmUpURL: String { Server.url("/small", tls: isTLS) }
    var isLarge: Bool { body > 1 << 20 }
    /// A file of this run's own.
    var file: String { "\(Server.directory)/body-\(getpid())" }

    /// Asks once, and returns how many bytes came. One for each sink: a task that awaits an answer has room for all
    /// that its closure does.
    typealias Ask = @Sendable () async throws -> Int

    /// Asks so many times, by as many tasks as there are requests at once, and checks each answer's size.
    func askAll(_ count: Int, _ ask: @escaping Ask) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let workers = min(concurrency, count)
            for worker in 0..<workers {
                group.addTask {
                    for _ in stride(from: worker, to: count, by: workers) {
                        guard try await ask() == body else { throw WrongResult() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Measures a subject: warms it up, then has it do the row's work, or of many requests only so many.
    func measure(
        _ run: Run, atMost most: Int = .max, warmUp: () async throws -> Int, _ ask: @escaping Ask
    ) async throws {
        try run.check(try await warmUp() == Server.smallSize)
        defer { unlink(file) }
        let (count, requests) = (run.count, min(most, requests(run.count)))
        try await run.measure(operations: isLarge ? count : requests) { try await askAll(requests, ask) }
    }

    /// The same by plain C, on the loop's thread or asked for on another.
    func plain(_ run: Run, isAsked: Bool = false) throws {
        try file.withCString { file in
            defer { unlink(file) }
            try Server.authorities.withCString { authorities in
                try url.withCString { url in
                    try warmUpURL.withCString { warmUpURL in
                        guard let http = plain_http_open(max(32, concurrency)) else { throw WrongResult() }
                        let size = isLarge ? 256 * 1024 : 16 * 1024
                        var job = plain_http_job(
                            url: warmUpURL, authorities: isTLS ? authorities : nil, requests: 1, concurrency: 1,
                            body: Server.smallSize, buffer: size, sink: plain_sink_memory, path: file)
                        try run.check(plain_http_run(http, job) == 1)
                        job.url = url
                        (job.requests, job.concurrency, job.body) = (requests(run.count), concurrency, body)
                        job.sink =
                            switch sink {
                            case .count: plain_sink_count
                            case .memory: plain_sink_memory
                            case .file: plain_sink_file
                            }
                        run.begin()
                        let right = isAsked ? plain_http_run_asked(http, job) : plain_http_run(http, job)
                        run.end()
                        try run.check(right == job.requests)
                        plain_http_close(http)
                    }
                }
            }
        }
    }
}
