// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import Uplink
import UplinkCurl

/// Allocations that fail in the libraries below. (Swift itself ends a process that has no memory.)
@Suite(.timeLimit(.minutes(2)), .disabled(if: Timing.isInstrumented, "ThreadSanitizer's allocator never fails"))
struct MemoryTests {
    /// libuv gives an error where a loop cannot be made. Where its table of descriptors cannot grow it ends the
    /// process.
    @Test func aLoopWithoutMemoryIsAnErrorAndTheNextOneWorks() async throws {
        await #expect(processExitsWith: .success) {
            #expect(FailingAllocator.useInLibUV())
            FailingAllocator.left.withLock { $0 = 0 }
            let error = await #expect(throws: EventLoopError.self) { try await withEventLoop { _ in } }
            FailingAllocator.left.withLock { $0 = .max }
            #expect(error?.code == .system && error?.errno == ENOMEM, "\(String(describing: error))")
            try await withEventLoop { try await $0.offLoop {} }
        }
    }

    /// One request after the other, each with one allocation more than the one before: each ends, with its body or with
    /// an error, and when there is memory all is well.
    @Test func aRequestWithoutMemoryIsAnErrorAndTheNextOneWorks() async throws {
        await #expect(processExitsWith: .success) {
            #expect(FailingAllocator.useInLibCurl())
            let server = try RawServer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 2", body: "ok")
            var (failures, successes) = (0, 0)
            try await withEventLoop { loop in
                let timeouts = HTTPTimeouts(connect: .seconds(10), firstByte: .seconds(10), stall: .seconds(10))
                for allocations in 0..<120 {
                    let transport = try CurlTransport(on: loop)
                    let client = HTTPClient(transport: transport)
                    FailingAllocator.left.withLock { $0 = allocations }
                    do {
                        _ = try await client.get(server.url(), timeouts: timeouts).body.collect(upTo: 10)
                        successes += 1
                    } catch let error as HTTPClientError {
                        failures += 1
                        let isTimeout = error.code == .connectTimeout || error.code == .firstByteTimeout
                        #expect(!isTimeout, "with \(allocations) allocations: \(error)")
                    }
                    FailingAllocator.left.withLock { $0 = .max }
                    #expect(try await client.get(server.url(), timeouts: timeouts).body.collect(upTo: 10).count == 2)
                    await transport.shutdown()
                }
            }
            #expect(failures > 10, "\(failures) failures, \(successes) successes")
            server.stop()
        }
    }
}

/// malloc(3) that fails when its time has come, in the place of the libraries' own.
private enum FailingAllocator {
    typealias Malloc = @convention(c) (Int) -> UnsafeMutableRawPointer?
    typealias Realloc = @convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?
    typealias Calloc = @convention(c) (Int, Int) -> UnsafeMutableRawPointer?
    typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void
    typealias Duplicate = @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?

    /// How many allocations go well before all fail.
    static let left = Locked(Int.max)

    static func mayAllocate() -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            if left != .max { left -= 1 }
            return true
        }
    }

    static let malloc: Malloc = { mayAllocate() ? Glibc.malloc($0) : nil }
    static let realloc: Realloc = { mayAllocate() ? Glibc.realloc($0, $1) : nil }
    static let calloc: Calloc = { mayAllocate() ? Glibc.calloc($0, $1) : nil }
    static let free: Free = { Glibc.free($0) }
    static let duplicate: Duplicate = { text in text.flatMap { mayAllocate() ? strdup($0) : nil } }

    /// Before the process's first loop. Growing is left alone, because libuv gives up the process where it cannot.
    static func useInLibUV() -> Bool {
        typealias Function = @convention(c) (Malloc, Realloc, Calloc, Free) -> CInt
        guard let symbol = dlsym(nil, "uv_replace_allocator") else { return false }
        return unsafeBitCast(symbol, to: Function.self)(malloc, { Glibc.realloc($0, $1) }, calloc, free) == 0
    }

    /// Before the process's first request.
    static func useInLibCurl() -> Bool {
        typealias Function = @convention(c) (Int, Malloc, Free, Realloc, Duplicate, Calloc) -> CInt
        guard let symbol = dlsym(nil, "curl_global_init_mem") else { return false }
        return unsafeBitCast(symbol, to: Function.self)(3, malloc, free, realloc, duplicate, calloc) == 0
    }
}
