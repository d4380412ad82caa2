// SPDX-License-Identifier: Apache-2.0
import Glibc
import PlainC

/// The nginx that all subjects ask, on loopback, with a directory of its own. It runs as long as this program; the
/// runs, which are processes of their own, find it by the environment.
enum Server {
    /// The sizes of `/zeros-N`, in MiB.
    static let sizes = [256, 1024, 10_240]
    /// The bytes of `/small` and of `/slow`, which takes four seconds.
    static let smallSize = 100
    static let slowSize = 4096

    private static let directoryVariable = "UPLINK_BENCHMARK_DIRECTORY"
    private static let (plainPort, tlsPort) = ("UPLINK_BENCHMARK_PORT", "UPLINK_BENCHMARK_TLS_PORT")

    /// The server's directory, where a run may put files, too.
    static var directory: String { variable(directoryVariable) }
    /// The certificate, which is its own authority.
    static var authorities: String { "\(directory)/certificate.pem" }

    static func url(_ path: String, tls: Bool = false) -> String {
        tls ? "https://127.0.0.1:\(variable(tlsPort))\(path)" : "http://127.0.0.1:\(variable(plainPort))\(path)"
    }

    /// Starts it, unless an outer process has.
    static func start() throws {
        plain_raise_descriptor_limit()
        guard getenv(directoryVariable) == nil else { return }
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/uplink-benchmark-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(activity: "making a directory") }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let ports = try [freePort(), freePort()]
        for (name, value) in [(directoryVariable, path), (plainPort, "\(ports[0])"), (tlsPort, "\(ports[1])")] {
            setenv(name, value, 1)
        }
        atexit { Server.stop() }
        try makeFiles(path)
        try makeCertificate(path)
        try write(configuration(path, ports), to: "\(path)/nginx.conf")
        pid = try launch(["nginx", "-p", path, "-c", "\(path)/nginx.conf", "-e", "stderr"], path)
        for _ in 0..<500 {
            if accepts(ports[1]) { return }
            usleep(10_000)  // nginx has no way to tell
        }
        throw Failure(activity: "starting nginx (see \(path)/output)")
    }

    nonisolated(unsafe) private static var pid: pid_t = 0  // of the main thread

    private static func stop() {
        if pid > 0 {
            kill(pid, SIGTERM)
            _ = wait(pid)
        }
        _ = try? wait(launch(["rm", "-rf", directory], "/tmp"))
    }

    private static func makeFiles(_ path: String) throws {
        try write(String(repeating: "x", count: slowSize), to: "\(path)/slow")
        for size in sizes {
            try write("", to: "\(path)/zeros-\(size)")
            guard truncate("\(path)/zeros-\(size)", size << 20) == 0 else { throw Failure(activity: "making a file") }
        }
    }

    private static func makeCertificate(_ path: String) throws {
        let status = try wait(
            launch(
                [
                    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=benchmark", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", "\(path)/key.pem", "-out", "\(path)/certificate.pem",
                ], path))
        guard status == 0 else { throw Failure(activity: "making a certificate (see \(path)/output)") }
    }

    private static func configuration(_ path: String, _ ports: [UInt16]) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(path)/temp;" }
        let locations = """
            location = /small { return 200 \(String(repeating: "x", count: smallSize)); }
                # sendfile(2) rounds up to whole pages, and would send it all at once.
                location = /slow { limit_rate 1k; sendfile off; }
                location / {}
            """
        return """
            daemon off;
            master_process off;
            pid \(path)/pid;
            user root;
            worker_rlimit_nofile 16384;
            events { worker_connections 8192; }
            http {
            access_log off;
            root \(path);
            default_type text/plain;
            sendfile on;
            tcp_nopush on;
            keepalive_requests 1000000000;
            keepalive_timeout 300s;
            open_file_cache max=100;
            \(temporary.joined(separator: "\n"))
            server { listen 127.0.0.1:\(ports[0]) backlog=8192; \(locations) }
            server {
                listen 127.0.0.1:\(ports[1]) ssl backlog=8192;
                ssl_certificate \(path)/certificate.pem;
                ssl_certificate_key \(path)/key.pem;
                \(locations)
            }
            }

            """
    }

    // MARK: Means

    private static func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }

    private static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw Failure(activity: "writing \(path)") }
        fputs(text, file)
        guard fclose(file) == 0 else { throw Failure(activity: "writing \(path)") }
    }

    /// Starts a program, which ends with this one.
    private static func launch(_ arguments: [String], _ directory: String) throws -> pid_t {
        let words = arguments.map { strdup($0) }
        defer { for word in words { free(word) } }
        let pid = (words + [nil]).map { UnsafePointer($0) }.withUnsafeBufferPointer {
            plain_start_server($0.baseAddress, "\(directory)/output")
        }
        guard pid > 0 else { throw Failure(activity: "starting \(arguments[0])") }
        return pid
    }

    private static func wait(_ pid: pid_t) -> CInt {
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var name = loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard status else { throw Failure(activity: "looking for a port") }
        return UInt16(bigEndian: name.sin_port)
    }

    private static func accepts(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var name = loopback(port)
        return withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = inet_addr("127.0.0.1")
        return name
    }
}

/// What the server could not get.
struct Failure: Error, CustomStringConvertible {
    let activity: String
    let number = errno
    var description: String { "\(activity): \(String(cString: strerror(number)))" }
}
