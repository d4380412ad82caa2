// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkEventLoop

/// The demo's own network: a namespace for the client, one for the server, and a cable between them. The client gets
/// its address and route when the scenario says so, as if from a DHCP server.
///
/// Namespaces live as long as the processes in them, so nothing is left when the demo ends, however it ends. The
/// original process never changes its own namespace: it executes itself again inside, with `unshare(1)`.
struct Stage: Sendable {
    private static let interface = "uplink0"
    static let serverAddress = "192.0.2.1"  // RFC 5737: reserved for examples
    private static let clientAddress = "192.0.2.2"

    /// Whether namespaces may be created here.
    enum Permission {
        /// They may, if the program is started by this command.
        case permitted(enter: [String])
        /// They may not, and why.
        case refused(String)
    }

    /// Tries it in a child process: creates a namespace, and a cable in it.
    static func permission() -> Permission {
        guard let unshare = Program.path(of: "unshare") else { return .refused("`unshare` of util-linux is missing") }
        guard let ip = Program.path(of: "ip") else { return .refused("`ip` is missing; install iproute2") }
        let ways = geteuid() == 0 ? ["-nm", "-Urnm"] : ["-Urnm"]
        for way in ways {
            let trial = [ip, "link", "add", interface, "type", "veth", "peer", "name", "peer0"]
            if (try? quietly([unshare, way, "--"] + trial)) == 0 { return .permitted(enter: [unshare, way, "--"]) }
        }
        return .refused("the system permits no network namespaces")
    }

    /// Executes this program again, inside, with other arguments.
    static func become(in enter: [String], _ words: [String]) throws -> Never {
        guard let own = Program.own else { throw CommandFailure("/proc is not mounted; mount it, or give a URL") }
        InheritedSignals.restore()
        let error = Program.become(enter + [own] + words)
        throw CommandFailure("`\(enter[0])` cannot be started: \(String(cString: strerror(error)))")
    }

    private let ip: String
    /// The server's process, which ends when its input is closed, that is, with this process at the latest.
    private let server: ChildProcess

    /// Starts the server, which is this program with other arguments, in a namespace beside this one, and connects the
    /// cable. Blocks.
    init(server words: [String]) throws {
        guard let ip = Program.path(of: "ip"), let unshare = Program.path(of: "unshare"), let own = Program.own else {
            throw CommandFailure("`ip` or `unshare` is missing; install iproute2 and util-linux")
        }
        try Self.checkIsApart("net")
        self.ip = ip
        server = try ChildProcess([unshare, "-n", "--", own] + words)
        guard server.says("here") else { throw CommandFailure("the demo's server did not start") }
        try Self.configure(
            """
            link set lo up
            link add \(Self.interface) type veth peer name \(Self.interface) netns \(server.id)
            link set \(Self.interface) up
            """, with: ip)
        try server.write("go\n")
        guard server.says("ready") else { throw CommandFailure("the demo's server did not start") }
        try Self.waitForCarrier(with: ip)
    }

    /// Makes the network come.
    func connect() async throws {
        try await EventLoop.shared.offLoop { [ip] in
            try Self.configure(
                """
                address add \(Self.clientAddress)/24 dev \(Self.interface)
                route add default via \(Self.serverAddress)
                """, with: ip)
        }
    }

    /// Makes the server's side do something, and waits until it is done.
    func order(_ words: String) async throws {
        try await EventLoop.shared.offLoop { [server] in
            try server.write("\(words)\n")
            guard server.says("done") else { throw CommandFailure("the demo's server did not do this: \(words)") }
        }
    }

    /// Pulls the cable on the server's side, or plugs it in again; runs in the server's process. Blocks.
    static func setCable(isIn: Bool) throws {
        guard let ip = Program.path(of: "ip") else { throw CommandFailure("`ip` is missing; install iproute2") }
        try configure("link set \(interface) \(isIn ? "up" : "down")", with: ip)
        if isIn { try waitForCarrier(with: ip) }
    }

    /// Refuses to change what the whole system shares, in case somebody has called the inside of the demo by itself.
    private static func checkIsApart(_ kind: String) throws {
        var (all, own) = (stat(), stat())
        guard stat("/proc/1/ns/\(kind)", &all) == 0, stat("/proc/self/ns/\(kind)", &own) == 0, all.st_ino == own.st_ino
        else { return }
        throw CommandFailure("this is the inside of the demo, which has namespaces of its own; call `uplink demo`")
    }

    /// Mounts an empty file system in memory over a directory, only for this process and its children; it is gone with
    /// them.
    static func mountMemory(at directory: String) throws {
        try checkIsApart("mnt")
        let mount = Program.path(of: "mount") ?? "mount"
        guard try quietly([mount, "-t", "tmpfs", "-o", "mode=700", "tmpfs", directory]) == 0 else {
            throw CommandFailure("the demo's directory could not be made (`mount -t tmpfs` failed)")
        }
    }

    /// The server's side of the cable; runs in the server's process. Blocks.
    static func configureServer() throws {
        guard let ip = Program.path(of: "ip") else { throw CommandFailure("`ip` is missing; install iproute2") }
        try configure(
            """
            link set lo up
            address add \(serverAddress)/24 dev \(interface)
            link set \(interface) up
            """, with: ip)
        try waitForCarrier(with: ip)
    }

    /// Waits until the kernel has seen the cable. That takes a while, and the kernel drops what is sent meanwhile; a
    /// lost packet would cost the demo a second.
    private static func waitForCarrier(with ip: String) throws {
        let look = "\(ip) -oneline link show dev \(interface) 2>/dev/null | grep -q 'state UP'"
        let wait = "for try in $(seq 300); do \(look) && exit; sleep 0.01; done; exit 1"
        guard try ChildProcess.run(["/bin/sh", "-c", wait]) == 0 else {
            throw CommandFailure("the demo's network did not come up")
        }
    }

    private static func configure(_ commands: String, with ip: String) throws {
        let status = try ChildProcess.run([ip, "-batch", "-"], input: commands + "\n")
        guard status == 0 else { throw CommandFailure("the demo's network could not be set up (`ip` failed)") }
    }

    /// Runs a program whose error messages are of no interest.
    private static func quietly(_ command: [String]) throws -> CInt {
        try ChildProcess.run(["/bin/sh", "-c", "exec \"$@\" 2>/dev/null", "sh"] + command)
    }
}
