// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import SystemPackage
import Uplink

/// How to reach the server, with curl(1)'s options.
struct ConnectionArguments: ParsableArguments {
    @Option(help: .init("Trust the authorities in this file (PEM) alone.", valueName: "file"))
    var cacert: String?

    @Option(help: .init("Show the server this certificate (PEM).", valueName: "file"))
    var cert: String?

    @Option(help: .init("The certificate's key (PEM).", valueName: "file"))
    var key: String?

    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        help: .init(
            "Go through a proxy: http, https, socks4a, socks5 or socks5h. (None is taken from the environment.)",
            valueName: "url"))
    var proxy: String?

    @Option(help: .init("Connect to a Unix socket instead of the host.", valueName: "path"))
    var unixSocket: String?

    @Option(
        help: .init("How many seconds a connection may take; 0: the default.", valueName: "seconds"),
        transform: SecondsArgument.parse)
    var connectTimeout: Double?

    @Option(
        name: [.customShort("m", allowingJoined: true), .long],
        help: .init(
            "How many seconds everything may take, once the network is there; a download, with all its waiting "
                + "(0: no limit).",
            valueName: "seconds"),
        transform: SecondsArgument.parse)
    var maxTime: Double?

    @Option(
        help: .init(
            "How many seconds the server may say nothing (default: 60 before its answer, 30 in its body; or --max-time, "
                + "where that is more and no file is downloaded); 0: no limit.", valueName: "seconds"),
        transform: SecondsArgument.parse)
    var silence: Double?

    @Option(
        help: .init(
            "Send again, so many times at most, what may be sent again; a download, while no new byte comes.",
            valueName: "times"))
    var retry: Int?

    func validate() throws {
        guard (0...1000).contains(retry ?? 0) else { throw ValidationError("--retry takes a number from 0 to 1000") }
        guard key == nil || cert != nil else { throw ValidationError("--key belongs to --cert") }
        guard unixSocket == nil || proxy == nil else { throw ValidationError("--unix-socket excludes --proxy") }
        guard unixSocket.map({ (1...107).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--unix-socket takes a path of 1 to 107 bytes")
        }
        _ = try transport()
    }

    /// How many seconds everything may take; nil for no limit, which 0 also means, as in curl(1).
    var limit: Double? { maxTime.flatMap { $0 > 0 ? $0 : nil } }

    /// The configuration of the transport.
    ///
    /// - Throws: `ValidationError` when the proxy's URL is invalid.
    func transport() throws -> CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration()
        if let cacert { configuration.trust = .authorities(FilePath(cacert)) }
        if let cert {
            configuration.identity = .init(certificate: FilePath(cert), key: FilePath(key ?? cert))
        }
        if let proxy {
            do throws(HTTPClientError) {
                configuration.proxy = .always(try .init(proxy), except: [])
            } catch {
                throw ValidationError(error.message)
            }
        }
        if let unixSocket { configuration.unixSocket = FilePath(unixSocket) }
        return configuration
    }

    /// The time limits of a request whose answer is written as it comes.
    var timeouts: HTTPTimeouts {
        var timeouts = downloadTimeouts
        guard let most = timeouts.total, silence == nil else { return timeouts }
        // A long time limit does not mean that the server has to answer any sooner.
        timeouts.firstByte = timeouts.firstByte.map { max($0, most) }
        timeouts.stall = timeouts.stall.map { max($0, most) }
        return timeouts
    }

    /// The time limits of a download: it can go on from where it was, so a silent connection is given up, however long
    /// the whole may take.
    var downloadTimeouts: HTTPTimeouts {
        var timeouts = HTTPTimeouts()
        if let connectTimeout, connectTimeout > 0 { timeouts.connect = .saturating(seconds: connectTimeout) }
        if let limit { timeouts.total = .saturating(seconds: limit) }
        if let silence {
            let most: Duration? = silence > 0 ? .saturating(seconds: silence) : nil
            (timeouts.firstByte, timeouts.stall) = (most, most)
        }
        return timeouts
    }

    /// What reaching the proxy requires of the network, whatever is behind it; a name may be known only here. Nil
    /// without a proxy, and for one on this host: such a proxy is often a forwarder (`ssh -D`), which keeps running
    /// while the network is away, and goes on to where the URL leads.
    var proxyRequirement: RequirementArgument? {
        guard let host = proxy.flatMap({ try? CurlTransport.Proxy($0).host }) else { return nil }
        return .way(to: host, forNames: .localNetwork)
    }

    /// How often a download tries: as often as its time allows, unless an option says otherwise.
    var backOff: DownloadBackOff {
        var backOff = DownloadBackOff()
        backOff.maximumFailures = retry
        return backOff
    }

    /// How often to try.
    var retries: HTTPRetryPolicy {
        var policy = HTTPRetryPolicy()
        policy.maximumAttempts = (retry ?? 0) + 1
        return policy
    }
}
