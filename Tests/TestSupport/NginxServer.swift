// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// nginx with a prefix, a configuration and ports of the test's own.
///
/// Over plain HTTP and, for each of ``Certificates/names``, over TLS it serves `/file` (what was put there), `/empty`
/// (204), `/missing` (404), `/go?target` (a redirect), `/take` (what was PUT there), `/resumed` (the TLS session: `r`
/// or `.`; the connection is closed), `/who` (the client's certificate, and the connection's number), `/protocol` (what
/// is spoken, and what TLS has agreed on) and `/backend`, which is the test's own server, passed on without a length.
/// The certificate `mutual` is `good`, on a port where the client's is asked for. Over TLS HTTP/2 is offered, and
/// preferred.
package final class NginxServer: Sendable {
    package let directory: TemporaryDirectory
    /// The port for plain HTTP.
    package let port: UInt16
    private let tlsPorts: [String: UInt16]
    private let pid: pid_t

    /// Whether there is an nginx, and an openssl for its certificates.
    package static var isInstalled: Bool { Spawn.has("nginx") && Spawn.has("openssl") }

    package init(file: [UInt8] = Array("hello\n".utf8), backend: UInt16 = 9, compresses: Bool = false) throws {
        directory = try TemporaryDirectory()
        try Certificates.make(in: directory)
        try directory.write("file", file)
        port = try FreePort.take()
        var ports: [String: UInt16] = [:]
        for name in Certificates.names + ["mutual"] { ports[name] = try FreePort.take() }
        tlsPorts = ports
        let text = Self.configuration(directory.path, port, ports, backend, gzip: compresses ? "on" : "off")
        try directory.write("nginx.conf", Array(text.utf8))
        let configuration = directory.path.appending("nginx.conf").string
        pid = try Spawn.start(
            ["nginx", "-p", directory.path.string, "-c", configuration, "-e", "stderr"], in: directory.path)
        try waitUntilReady()
    }

    /// The URL of a path over plain HTTP.
    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// The URL of a path over TLS, with the certificate of this name.
    package func url(_ path: String, certificate: String) -> String {
        "https://127.0.0.1:\(tlsPorts[certificate] ?? 0)\(path)"
    }

    /// The port on which TLS is spoken with the certificate of this name.
    package func port(certificate: String) -> UInt16 { tlsPorts[certificate] ?? 0 }

    /// A file beside the certificates.
    package func file(_ name: String) -> FilePath { directory.path.appending(name) }

    /// Ends the server without a word to those who are connected.
    package func kill() { Glibc.kill(pid, SIGKILL) }

    /// The authority that issued the certificates.
    package var authority: FilePath { directory.path.appending("ca.pem") }

    package func stop() {
        Glibc.kill(pid, SIGTERM)
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        directory.remove()
    }

    private static func configuration(
        _ path: FilePath, _ port: UInt16, _ tls: [String: UInt16], _ backend: UInt16, gzip: String
    ) -> String {
        let locations = """
            location = /file { alias \(path)/file; default_type text/plain; }
                location = /empty { return 204; }
                location = /take { root \(path); dav_methods PUT DELETE; client_max_body_size 64m; }
                location = /missing { return 404; }
                location = /go { return 302 $args; }
                location = /brief { keepalive_timeout 1; return 200 brief; }
                location = /resumed { keepalive_timeout 0; return 200 $ssl_session_reused; }
                location = /who { return 200 "$ssl_client_s_dn $connection"; }
                location = /protocol { return 200 "$server_protocol $ssl_alpn_protocol"; }
                location = /backend {
                    proxy_pass http://127.0.0.1:\(backend); proxy_buffering off; chunked_transfer_encoding off;
                }
            """
        let servers = tls.map { name, port in
            let certificate = name == "mutual" ? "good" : name
            let mutual = name == "mutual" ? "ssl_client_certificate \(path)/ca.pem; ssl_verify_client on;" : ""
            return """
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate \(path)/\(certificate).pem;
                    ssl_certificate_key \(path)/\(certificate).key;
                    \(mutual)
                    ssl_session_cache shared:all:1m;
                    \(locations)
                }
                """
        }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(path)/temp;" }
        return """
            daemon off;
            master_process off;
            pid \(path)/pid;
            user root;
            events { worker_connections 512; }
            http {
            access_log off;
            gzip \(gzip);
            gzip_types text/plain;
            \(temporary.joined(separator: "\n"))
            server { listen 127.0.0.1:\(port); \(locations) }
            \(servers.joined(separator: "\n"))
            }

            """
    }

    private func waitUntilReady() throws {
        for _ in 0..<500 {
            if Self.accepts(port), tlsPorts.values.allSatisfy(Self.accepts) { return }
            var status: CInt = 0
            guard waitpid(pid, &status, WNOHANG) == 0 else { break }
            usleep(10_000)  // nginx has no way to tell
        }
        let output = String(decoding: (try? directory.read("output")) ?? [], as: UTF8.self)
        throw SetupFailure(activity: "starting nginx: \(output.suffix(500))", errno: 0)
    }

    private static func accepts(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
