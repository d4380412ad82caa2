// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What cannot be seen from outside a program: which calls it makes, and what it does when minutes have passed. By a
/// library that stands before the C library's own.
@Suite(.timeLimit(.minutes(2)), .disabled(if: Timing.isInstrumented, "ThreadSanitizer stands there itself"))
struct PreloadTests {
    private static let answer: [RawServer.Step] = [
        .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop,
    ]

    /// Writes for each call of umask(2) a line with the number of threads.
    private static let countingUmask = """
        #define _GNU_SOURCE
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        mode_t umask(mode_t mask) {
            struct stat tasks;
            FILE *log = fopen(getenv("UMASK_LOG"), "a");
            if (log && stat("/proc/self/task", &tasks) == 0) fprintf(log, "%d\\n", (int)tasks.st_nlink - 2);
            if (log) fclose(log);
            return (mode_t)syscall(SYS_umask, mask);
        }
        """

    /// The umask can only be read by setting it, and is one for all threads: another one would make a file that is open
    /// to all. So it is set and set back before there are others, and not again.
    @Test func theUmaskIsReadOnceWhileThereIsOneThread() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let library = try Preload.build(Self.countingUmask, in: directory)
        let server = try RawServer(Self.answer)
        defer { server.stop() }
        let files = (0..<4).map { "-o \(directory.path)/\($0) \(server.url("/\($0)"))" }.joined(separator: " ")
        let preload = "env LD_PRELOAD=\(library) UMASK_LOG=\(directory.path)/log"
        let program = try RunningProgram(
            ["/bin/sh", "-c", "umask 027; exec \(preload) \(BuiltProgram.path) get --parallel 4 \(files)"])
        #expect(try await program.wait() == 0, "\(program.errors)")
        for number in 0..<4 {
            #expect(directory.permissions(of: "\(number)") == [.ownerReadWrite, .groupRead])
        }
        let log = String(decoding: try directory.read("log"), as: UTF8.self)
        #expect(log == "1\n1\n")  // set, and set back
    }

    /// Handles each SIGTERM late, as a thread does that the kernel lets wait.
    private static let lateHandler = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <signal.h>
        #include <unistd.h>
        static void (*handler)(int);
        static void handle_late(int number) {
            write(2, "taken", 5);
            usleep(700000);
            handler(number);
        }
        int sigaction(int number, const struct sigaction *action, struct sigaction *before) {
            int (*real)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
            struct sigaction late;
            if (number == SIGTERM && action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
                late = *action;
                handler = action->sa_handler;
                late.sa_handler = handle_late;
                action = &late;
            }
            return real(number, action, before);
        }
        """

    /// Whoever sent the signal wants the program to end, not to begin. SIGPIPE may be blocked from before.
    @Test(.needsNetworkNamespaces, arguments: [[], ["--block-signal=PIPE"]])
    func aSignalThatIsHandledLateIsNotLostToAProgramThatRunStarts(_ settings: [String]) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let library = try Preload.build(Self.lateHandler, in: directory)
        try await withNetworkNamespaces { host, _ in
            try host.batch(NetworkCommandTests.up.dropLast())
            let command = [BuiltProgram.path, "run", "--within", "30", "--", "echo", "started"]
            let program = try RunningProgram(
                host.entering(["/usr/bin/env"] + settings + ["LD_PRELOAD=\(library)"] + command))
            try await NetworkCommandTests.waitForSignalHandlers(of: program)
            program.signal(SIGTERM)
            try await eventually("the signal is taken") { program.errors.contains("taken") }
            try host.batch(NetworkCommandTests.up.suffix(1))
            #expect(try await program.wait() == 143)
            #expect(program.output.isEmpty)
        }
    }

    /// For libcurl 301 seconds have passed once there is a file of the name in `LATER`. Who calls is found by the
    /// address that the call returns to.
    private static let jumpingClock = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t clock, struct timespec *now) {
            int status = (int)syscall(SYS_clock_gettime, clock, now);
            Dl_info caller;
            int number = errno;
            if (dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "/libcurl")
                && access(getenv("LATER"), F_OK) == 0) now->tv_sec += 301;
            errno = number;
            return status;
        }
        """

    /// libcurl keeps authorities that it has read, for a day unless it is told otherwise: one that is no longer in the
    /// file would be trusted for as long.
    @Test(arguments: [true, false]) func aFileOfAuthoritiesIsReadAgainAfterFiveMinutes(_ isLater: Bool) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let library = try Preload.build(Self.jumpingClock, in: directory)
        try Certificates.make(in: directory)
        let server = try RawServer(Self.answer)
        defer { server.stop() }
        // Two of them, because a session with the first could be resumed, without a look at certificates.
        let first = try TLSFront(to: server.port, certificates: directory.path)
        defer { first.stop() }
        let second = try TLSFront(to: server.port, certificates: directory.path)
        defer { second.stop() }
        // Between them another file gets the name, and time passes.
        let other = try directory.read("self.pem")
        let between = try RawServer([
            .answer { _ in
                try? directory.write("ca.pem", other)
                if isLater { try? directory.write("later", []) }
                return [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
            }
        ])
        defer { between.stop() }
        let urls = ["https://127.0.0.1:\(first.port)/", between.url(), "https://127.0.0.1:\(second.port)/"]
        let files = urls.enumerated().flatMap { ["-o", "\(directory.path)/\($0)", $1] }
        let program = try RunningProgram(
            [BuiltProgram.path, "get", "--parallel", "1", "--cacert", "\(directory.path)/ca.pem"] + files,
            environment: ["LD_PRELOAD": library, "LATER": "\(directory.path)/later"])
        let status = try await program.wait()
        #expect(status == (isLater ? 1 : 0), "\(program.errors)")
        #expect(program.errors.contains("trusted authority") == isLater, "\(program.errors)")
        #expect(directory.names.contains("0") && directory.names.contains("1"))
        #expect(directory.names.contains("2") == !isLater)
    }
}
