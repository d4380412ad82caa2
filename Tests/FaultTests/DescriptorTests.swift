// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import Uplink
import UplinkCore
@testable import UplinkCurl

/// A process that has used up its descriptors in the middle of its work.
@Suite(.timeLimit(.minutes(1)))
struct DescriptorTests {
    @Test func eachPartSaysWhatIsMissingAndWorksAgainWhenThereAreDescriptors() async throws {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let server = try RawServer(
                answering: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close", body: "ok")
            try await withEventLoop { loop in
                try await openTimersOfDispatch()
                let scene = Scene(loop, server.url(), directory.path.appending("f"))
                let before = try await scene.run()
                let limit = setDescriptorLimit(0)
                let without = try await scene.run(asking: "host.invalid")  // a thread would look it up
                _ = setDescriptorLimit(limit)
                let after = try await scene.run()

                #expect(before == ["", "", "", "", "", ""])
                #expect(after == before)
                for (part, told) in zip(Scene.parts, without) {
                    #expect(told.contains("ulimit -n"), "\(part): \(told)")
                }
            }
            server.stop()
        }
    }

    /// Whatever the loop does not get of the descriptors that it needs, those that it got are closed again.
    @Test func aLoopThatFindsTooFewDescriptorsLeavesNoneOpen() async throws {
        await #expect(processExitsWith: .success) {
            // What stays in the process is there from here on.
            try await withEventLoop { try await $0.offLoop {} }
            try await openTimersOfDispatch()
            while dup(STDERR_FILENO) < 64 {}  // no gaps: a limit is on numbers
            let before = Census().descriptors
            var failures = 0
            for room in 0..<10 {
                let limit = setDescriptorLimit(rlim_t(65 + room))
                do { try await withEventLoop { _ in } } catch { failures += 1 }
                _ = setDescriptorLimit(limit)
                try await eventually("no more than before, with room for \(room)") { Census().descriptors == before }
            }
            #expect((2...9).contains(failures))
        }
    }

    /// libdispatch ends the process if it finds none while work waits for its pools.
    @Test func connectionsLeaveTheLastDescriptorsToOthers() async throws {
        await #expect(processExitsWith: .success) {
            // It accepts nothing, and so needs no descriptors itself.
            let (server, port) = try LoopbackSocket.listen(backlog: 128)
            defer { close(server) }
            try await withEventLoop { loop in
                var configuration = CurlTransport.Configuration()
                configuration.maximumConcurrentTransfersPerHost = 100
                let transport = try CurlTransport(on: loop, configuration: configuration)
                let client = HTTPClient(transport: transport)
                while dup(STDERR_FILENO) < 64 {}  // no gaps: a limit is on numbers
                let limit = setDescriptorLimit(100)
                let messages = await withTaskGroup(of: String?.self) { group in
                    for _ in 0..<100 {
                        group.addTask(executorPreference: loop) {
                            do {
                                let timeouts = HTTPTimeouts(firstByte: .seconds(1))
                                _ = try await client.get("http://127.0.0.1:\(port)/", timeouts: timeouts)
                                return nil
                            } catch {
                                return "\(error)"
                            }
                        }
                    }
                    let first = await group.next() ?? nil
                    var free: [CInt] = []
                    while let next = Optional(dup(STDERR_FILENO)), next >= 0 { free.append(next) }
                    for descriptor in free { close(descriptor) }
                    #expect(free.count >= 8)
                    return await group.reduce(into: [first]) { $0.append($1) }
                }
                _ = setDescriptorLimit(limit)
                #expect(messages.count { $0?.contains("ulimit -n") == true } > 60)
                #expect(messages.count { $0?.contains("no answer within") == true } > 10)
                await transport.shutdown()
            }
        }
    }

    /// Without a descriptor to ask the kernel with, an address is not public, and not forbidden either.
    @Test func withoutDescriptorsNoAddressIsPublic() async {
        await #expect(processExitsWith: .success) {
            let address = try #require(IPAddress("192.0.32.8"))
            var sockets = TransferSockets()
            let limit = setDescriptorLimit(0)
            let isPublic = sockets.isPublic(address)
            _ = setDescriptorLimit(limit)
            #expect(!isPublic)
            #expect(sockets.shortage == EMFILE && sockets.forbidden == nil)
            let isPublicNow = sockets.isPublic(address)
            #expect(isPublicNow)
        }
    }

    /// What a program opens, and the words it hears where that fails.
    private struct Scene {
        let loop: EventLoop
        let url: String
        let target: FilePath

        init(_ loop: EventLoop, _ url: String, _ target: FilePath) {
            (self.loop, self.url, self.target) = (loop, url, target)
        }

        static let parts = ["loop", "monitor", "request", "name", "file", "download"]

        /// Each of the parts; an empty text for what went well.
        func run(asking host: String = "localhost") async throws -> [String] {
            let monitor = LinuxNetworkMonitor(on: loop)
            let transport = try CurlTransport(on: loop)
            let client = HTTPClient(transport: transport)
            var options = DownloadOptions(monitor: monitor, clock: LoopClock(on: loop))
            options.requirement = nil
            let named = url.replacing("127.0.0.1", with: host)
            options.replacesExisting = true
            let told = [
                await words { try await withEventLoop { try await $0.offLoop {} } },
                await words { for try await _ in monitor.paths { break } },
                await words { _ = try await client.get(url).body.collect(upTo: 10) },
                await words { _ = try await client.get(named).body.collect(upTo: 10) },
                await words { _ = try await client.put(url, body: .file("/etc/hostname")).body.collect(upTo: 10) },
                await words { _ = try await client.download(url, to: target, within: .seconds(2), options: options) },
            ]
            await transport.shutdown()
            return told
        }

        private func words(_ body: () async throws -> Void) async -> String {
            do {
                try await body()
                return ""
            } catch {
                return "\(error)"
            }
        }
    }
}
