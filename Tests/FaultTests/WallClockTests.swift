// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

/// A wall clock that somebody sets while a program works: by a library that stands before the C library's own, so that
/// the machine's clock stays as it is.
@Suite(.timeLimit(.minutes(1)), .disabled(if: Timing.isInstrumented, "ThreadSanitizer has its own way to the clocks"))
struct WallClockTests {
    /// Each look at the wall clock is a year away from the one before.
    private static let library = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>
        #include <sys/syscall.h>
        static int looks;
        static long jump(void) { return __atomic_fetch_add(&looks, 1, __ATOMIC_RELAXED) % 2 ? 31536000 : -31536000; }
        int clock_gettime(clockid_t clock, struct timespec *now) {
            int status = (int)syscall(SYS_clock_gettime, clock, now);
            if (status == 0 && clock == CLOCK_REALTIME) now->tv_sec += jump();
            return status;
        }
        int gettimeofday(struct timeval *now, void *zone) {
            struct timespec time;
            (void)zone;
            clock_gettime(CLOCK_REALTIME, &time);
            now->tv_sec = time.tv_sec, now->tv_usec = time.tv_nsec / 1000;
            return 0;
        }
        time_t time(time_t *now) {
            struct timespec time;
            clock_gettime(CLOCK_REALTIME, &time);
            if (now) *now = time.tv_sec;
            return time.tv_sec;
        }
        """

    private func download(
        _ scripts: [RawServer.Step]..., within seconds: Int,
        body: (RunningProgram, _ time: Duration) throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let library = try Preload.build(Self.library, in: directory)
        let server = try RawServer(scripts[0], scripts[scripts.count - 1])
        defer { server.stop() }
        let start = ContinuousClock.now
        let program = try RunningProgram(
            [BuiltProgram.path(of: "DownloadVictim"), server.url(), "\(directory.path)/f", "\(seconds)"],
            environment: ["LD_PRELOAD": library])
        try await program.wait(upTo: .seconds(50))
        try body(program, ContinuousClock.now - start)
    }

    @Test func aDownloadWhoseClockJumpsIsWhole() async throws {
        let busy = "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
        try await download([.readHead, .send(busy)], [.readHead, .send(head), .send("abcd")], within: 40) {
            program, time in
            #expect(program.output == "whole 4 transferred 4 resumptions 0\n", "\(program.errors)")
            #expect(time >= .seconds(1))  // what the server had asked for
        }
    }

    @Test func aDeadlineIsKeptThoughTheClockJumps() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
        try await download([.readHead, .send(head), .send("ab"), .waitForClose], within: 2) { program, time in
            #expect(program.output.contains("failed deadlineExceeded"), "\(program.output)\(program.errors)")
            #expect(time >= .seconds(2))
        }
    }
}
