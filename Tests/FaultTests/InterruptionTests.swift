// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import Uplink
import UplinkCurl

/// Signals to every thread, with a handler that lets the calls they interrupt end with EINTR.
@Suite(.timeLimit(.minutes(1)))
struct InterruptionTests {
    @Test func nobodyNoticesCallsThatAreInterrupted() async throws {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let content = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
            let pieces = stride(from: 0, to: content.count, by: 20_000).flatMap {
                [RawServer.Step.send(Array(content[$0..<$0 + 20_000])), .pause(.milliseconds(5))]
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\nConnection: close\r\n\r\n"
            // The server is a model and not what is tried: its threads inherit that they are spared.
            let server = try SignalStorm.spared { try RawServer([.readHead, .send(head)] + pieces) }
            let storm = SignalStorm()
            try await withEventLoop { loop in
                let transport = try CurlTransport(on: loop)
                let client = HTTPClient(transport: transport)
                let monitor = LinuxNetworkMonitor(on: loop)
                let clock = LoopClock(on: loop)
                var options = DownloadOptions(monitor: monitor, clock: clock)
                options.requirement = nil
                let file = try await client.download(
                    server.url(), to: directory.path.appending("f"), within: .seconds(40), options: options)
                #expect(file.byteCount == content.count && file.attempts == 1)
                #expect(try directory.read("f") == content)
                for try await _ in monitor.paths { break }
                let start = clock.now
                try await clock.sleep(for: .milliseconds(100))
                #expect(start.duration(to: clock.now) >= .milliseconds(100))
                let performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
                let never = NetworkRequirement.predicate("none") { _ in false }
                let outcome = await performer.perform(withinSeconds: 0.1, requiring: never) {}
                guard case .failure(.notStarted(let error)) = outcome else { exit(1) }
                #expect(error.code == .timedOut)
                await transport.shutdown()
            }
            #expect(storm.end() > 50)
            server.stop()
        }
    }
}

/// A thread that sends a signal to all others, again and again.
private final class SignalStorm: Sendable {
    private static let sent = Locked(0)
    private let isOver = Locked(false)

    init() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigemptyset(&action.sa_mask)
        action.sa_flags = 0  // no SA_RESTART
        sigaction(SIGUSR1, &action, nil)
        detachThread { [isOver] in
            Self.spared {
                while !isOver.withLock({ $0 }) {
                    for thread in Self.threads where Self.send(SIGUSR1, to: thread) { Self.sent.withLock { $0 += 1 } }
                    usleep(500)
                }
            }
        }
    }

    /// Ends it, and says how many signals were sent.
    func end() -> Int {
        isOver.withLock { $0 = true }
        return Self.sent.withLock { $0 }
    }

    /// Does something in such a way that threads which it starts get no signals.
    static func spared<Result>(_ body: () throws -> Result) rethrows -> Result {
        var (signals, before) = (sigset_t(), sigset_t())
        sigemptyset(&signals)
        sigaddset(&signals, SIGUSR1)
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body()
    }

    private static var threads: [pid_t] {
        guard let directory = opendir("/proc/self/task") else { return [] }
        defer { closedir(directory) }
        var threads: [pid_t] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let thread = pid_t(name) { threads.append(thread) }
        }
        return threads
    }

    private static func send(_ signal: CInt, to thread: pid_t) -> Bool {
        typealias Function = @convention(c) (pid_t, pid_t, CInt) -> CInt  // tgkill(2), which Swift's Glibc leaves out
        guard let symbol = dlsym(nil, "tgkill") else { return false }
        return unsafeBitCast(symbol, to: Function.self)(getpid(), thread, signal) == 0
    }
}
