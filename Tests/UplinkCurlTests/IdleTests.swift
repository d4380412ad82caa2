// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// What a process uses of the processor while it waits for an answer: all of its threads, in a process of its own.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct IdleTests {
    @Test func aProcessThatWaitsForAnAnswerUsesNothing() async throws {
        await #expect(processExitsWith: .success) {
            let wait = Duration.seconds(getenv("UPLINK_FULL") == nil ? 2 : 5)
            try await withServer([.readHead, .waitForClose]) { server in
                try await withClient { client, _ in
                    let waiting = Task { _ = try await client.get(server.url()) }
                    try await eventually("the request has gone out") { !server.heads.isEmpty }
                    try await Task.sleep(for: .milliseconds(100))  // until what has just begun has come to rest
                    let before = processorTime()
                    try await Task.sleep(for: wait)  // what is measured
                    let used = processorTime() - before
                    waiting.cancel()
                    _ = await waiting.result
                    if used >= Timing.slack(.milliseconds(50)) { exit(1) }
                }
            }
        }
    }
}

/// What the process has used of the processor, for itself and in the kernel.
private func processorTime() -> Duration {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return duration(usage.ru_utime) + duration(usage.ru_stime)
}

private func duration(_ time: timeval) -> Duration {
    Duration.seconds(Int(time.tv_sec)) + Duration.microseconds(Int(time.tv_usec))
}
