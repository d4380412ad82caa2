// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing
import UplinkEventLoop
import UplinkTesting

/// The examples do what they say.
@Suite(
    .timeLimit(.minutes(20)), .serialized,  // the first one may have to build the library
    .needsNetworkNamespaces)
struct ExampleTests {
    private func program(_ path: String, _ arguments: String..., in namespace: NetworkNamespace) throws
        -> RunningProgram
    {
        try RunningProgram(namespace.entering([path] + arguments))
    }

    /// A host with a link and an address, which `goOnline` gives a way to the internet.
    private func withHost(_ body: (NetworkNamespace) async throws -> Void) async throws {
        try await withNetworkNamespaces { host, router in
            try host.ip("link set lo up")
            try host.ip("link add eth0 type veth peer name r0 netns \(router.name)")
            try router.ip("link set r0 up")
            try host.ip("link set eth0 up")
            try host.ip("addr add 192.0.2.10/24 dev eth0")
            try await body(host)
        }
    }

    private func goOnline(_ host: NetworkNamespace) throws { try host.ip("route add default via 192.0.2.1") }

    /// A host with a way to the internet, on which a server answers the first connection, and all others.
    private func withServer(
        _ first: [RawServer.Step], _ others: [RawServer.Step],
        body: (NetworkNamespace, RawServer, _ url: String) async throws -> Void
    ) async throws {
        try await withTestNetwork { network in
            try await withEventLoop(networkNamespace: network.router.path) { loop in
                // On that loop's thread, because what is made there belongs to the router.
                let server = try await withCheckedThrowingContinuation { continuation in
                    loop.execute {
                        continuation.resume(with: Result { try RawServer(first, others, address: "0.0.0.0") })
                    }
                }
                defer { server.stop() }
                try await body(network.device, server, "http://192.0.2.1:\(server.port)/file")
            }
        }
    }

    @Test func fetchingWaitsForTheNetwork() async throws {
        try await CLibrary.withProgram("Examples/c/wait-then-fetch.c") { path in
            try await withHost { host in
                let run = try program(path, "http://192.0.2.77/", in: host)
                try await Task.sleep(for: .milliseconds(300))  // for the program to be in its wait
                #expect(run.status == nil)
                try goOnline(host)
                // Nobody is at that address; that it was asked shows that the wait is over.
                #expect(try await run.wait(upTo: .seconds(60)) == 1)
                #expect(run.errors.contains("UPLINK_ECONNECT") || run.errors.contains("UPLINK_ETIMEDOUT"))
            }
        }
    }

    @Test func whatIsFetchedIsWritten() async throws {
        let server = try RawServer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 5", body: "hello")
        defer { server.stop() }
        try await CLibrary.withProgram("Examples/c/poll-loop.c") { path in
            let run = try await CLibrary.require(RunningProgram([path, server.url("/page")]))
            #expect(run.output == "hello")
            #expect(run.errors == "200 from \(server.url("/page"))\n")
        }
    }

    @Test func aPausedBodyArrivesWhole() async throws {
        let size = 5 << 20
        let server = try RawServer([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"), .fill(size),
        ])
        defer { server.stop() }
        try await CLibrary.withProgram("Examples/c/poll-loop.c") { path in
            let run = try await CLibrary.require(RunningProgram([path, server.url()]))
            #expect(run.outputBytes.count == size)
        }
    }

    @Test(arguments: CLibrary.Language.allCases) func anOperationIsPerformedWhenTheNetworkComesAndOtherwiseNever(
        as language: CLibrary.Language
    ) async throws {
        try await CLibrary.withProgram("Examples/c/perform.c", as: language) { path in
            try await withHost { host in
                let away = try program(path, in: host)
                #expect(try await away.wait() == 1)
                #expect(away.output.hasPrefix("never started: the network (internet) did not come in time"))
                let late = try program(path, in: host)
                try goOnline(host)
                #expect(try await late.wait() == 0)
                #expect(late.output == "the operation runs\ncomplete, with the result 42\n")
            }
        }
    }

    @Test func callbacksRunInsideALibuvLoop() async throws {
        try await CLibrary.withProgram("Examples/c/uv-loop.c", linking: ["-luv"]) { path in
            try await withHost { host in
                try goOnline(host)
                let run = try program(path, in: host)
                #expect(try await run.wait() == 0)
                #expect(run.output == "the network is there\n")
            }
        }
    }

    @Test func aFileIsSent() async throws {
        let answer = "HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\nkept"
        try await CLibrary.withProgram("Examples/c/upload.c") { path in
            let script: [RawServer.Step] = [.readHead, .readBody(), .send(answer), .waitForClose]
            try await withServer(script, script) { host, server, url in
                let place = try TemporaryDirectory()
                defer { place.remove() }
                try place.write("report", Array("the report".utf8))
                let run = try program(path, place.path.appending("report").string, url, in: host)
                #expect(try await run.wait(upTo: .seconds(60)) == 0)
                #expect(run.output == "201: kept\n" && run.errors.hasSuffix("10 of 10 bytes\n"))
                #expect(server.connections.first?.heads.first?.hasPrefix("PUT /file HTTP/1.1\r\n") == true)
            }
        }
    }

    @Test func aDownloadThatBreaksOffGoesOnWhereItWas() async throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nAccept-Ranges: bytes\r\nContent-Length: 10\r\n\r\n"
        let rest = "HTTP/1.1 206 Partial Content\r\nETag: \"one\"\r\nContent-Range: bytes 5-9/10\r\n"
        let first: [RawServer.Step] = [.readHead, .send(head + "hello")]
        let second: [RawServer.Step] = [
            .readHead, .send(rest + "Content-Length: 5\r\n\r\nworld"), .waitForClose,
        ]
        try await CLibrary.withProgram("Examples/c/download.c") { path in
            try await withServer(first, second) { host, server, url in
                let place = try TemporaryDirectory()
                defer { place.remove() }
                let target = place.path.appending("file").string
                let digest = "936a185caaa266bb9cbe981e9e05cb78cd732b0b3280eb944412bb6f8f8f07af"  // of "helloworld"
                let run = try program(path, url, target, digest, in: host)
                #expect(try await run.wait(upTo: .seconds(60)) == 0)
                #expect(run.output == "\(target): 10 bytes, resumed 1 times\n")
                #expect(run.errors.contains("going on at 5 bytes"))
                #expect(try place.read("file") == Array("helloworld".utf8))
                #expect(server.connections.count == 2)
            }
        }
    }
}
