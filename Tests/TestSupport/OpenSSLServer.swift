// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// `openssl s_server`, for what nginx does not do: versions of TLS that are too old, and a handshake that fails without
/// a certificate of the client's. It answers every request with a page about the session.
package final class OpenSSLServer: Sendable {
    package let directory: TemporaryDirectory
    package let port: UInt16
    private let pid: pid_t

    /// - Parameters:
    ///   - options: More of `openssl-s_server(1)`; files are in the directory of the ``Certificates``.
    ///   - answer: All that every connection gets, in place of the page; requested as `/answer`.
    package init(_ options: [String], answer: [UInt8]? = nil) throws {
        directory = try TemporaryDirectory()
        try Certificates.make(in: directory)
        if let answer { try directory.write("answer", answer) }
        let port = try FreePort.take()
        self.port = port
        let path = directory.path
        func place(_ name: String) -> String { path.appending(name).string }
        pid = try Spawn.start(
            [
                "env", "--chdir=\(path)", "openssl", "s_server", "-accept", "127.0.0.1:\(port)",
                answer == nil ? "-www" : "-HTTP", "-quiet",
                "-cert", place("good.pem"), "-key", place("good.key"), "-CAfile", place("ca.pem"),
            ] + options, in: path)
        try waitUntilItListens()
    }

    package func url(_ path: String = "/") -> String { "https://127.0.0.1:\(port)\(path)" }
    package func file(_ name: String) -> FilePath { directory.path.appending(name) }

    package func stop() {
        kill(pid, SIGKILL)
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        directory.remove()
    }

    /// By the kernel's table, because the server serves one at a time and a connection on trial would be one.
    private func waitUntilItListens() throws {
        let wanted = ":\(String(0x10000 + Int(port), radix: 16, uppercase: true).dropFirst()) 00000000:0000 0A"
        for _ in 0..<1000 {
            if let table = try? TemporaryDirectory.read(FilePath("/proc/net/tcp")),
                String(decoding: table, as: UTF8.self).contains(wanted)
            {
                return
            }
            usleep(5_000)
        }
        throw SetupFailure(activity: "starting openssl s_server", errno: 0)
    }
}
