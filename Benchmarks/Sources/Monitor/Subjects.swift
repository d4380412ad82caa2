// SPDX-License-Identifier: Apache-2.0
import Glibc
import Harness
import PlainC
import UplinkCore
import UplinkEventLoop
import UplinkMonitor
import UplinkTesting

/// The event ⇒ its telling, for changes of the default route.
enum Latency {
    private static let changes = 1000

    static func plain(_ run: Run) async throws {
        try await withRoutes(run) { network, writer in
            let listener = plain_listener(network.device.path, 1 << 20)
            guard listener >= 0, let reader = plain_changes_start(listener, changes) else { throw WrongResult() }
            var starts: [UInt64] = []
            run.begin()
            for change in 0..<changes {
                starts.append(plain_default_route(writer, CInt(change % 2)))
                await pause()
            }
            run.end(operations: changes)
            try note(run, starts, Array(UnsafeBufferPointer(start: plain_changes_join(reader), count: changes)))
        }
    }

    static func uplink(_ run: Run) async throws {
        try await withRoutes(run) { network, writer in
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                let configuration = try LinuxNetworkMonitor.Configuration(minimumInterval: .zero)
                let monitor = LinuxNetworkMonitor(on: loop, configuration: configuration)
                var paths = monitor.paths.makeAsyncIterator()
                try run.check(try await paths.next()?.isSatisfied == true)
                var (starts, times): ([UInt64], [UInt64]) = ([], [])
                run.begin()
                for change in 0..<changes {
                    starts.append(plain_default_route(writer, CInt(change % 2)))
                    while let path = try await paths.next(), path.isSatisfied != (change % 2 == 1) {}
                    times.append(plain_now())
                    await pause()
                }
                run.end(operations: changes)
                try note(run, starts, times)
            }
        }
    }

    /// A quiet time, so that each change finds everybody asleep.
    private static func pause() async { try? await Task.sleep(for: .milliseconds(3)) }

    private static func note(_ run: Run, _ starts: [UInt64], _ ends: [UInt64]) throws {
        try run.check(starts.count == ends.count && !starts.contains(0) && !ends.contains(0))
        try note(run, zip(starts, ends).map { Double($1) / 1e9 - Double($0) / 1e9 })
    }

    private static func note(_ run: Run, _ seconds: [Double]) throws {
        let sorted = seconds.sorted()
        run.note("p50", sorted[sorted.count / 2])
        run.note("p99", sorted[sorted.count * 99 / 100])
        run.note("worst", sorted[sorted.count - 1])
    }

    private static func withRoutes(_ run: Run, _ body: (TestNetwork, CInt) async throws -> Void) async throws {
        try await withQuietNetwork { network in
            let writer = plain_netlink(network.device.path)
            defer { close(writer) }
            try run.check(plain_routes(writer, run.count, 1) == run.count)
            try await body(network, writer)
        }
    }
}

/// Very many events that are nobody's business.
enum Churn {
    static func plain(_ run: Run) async throws {
        try await withQuietNetwork { network in
            let writer = plain_netlink(network.device.path)
            defer { close(writer) }
            let listener = plain_listener(network.device.path, 1 << 20)
            defer { close(listener) }
            guard listener >= 0, let reader = plain_reader_start(listener) else { throw WrongResult() }
            let thread = plain_reader_thread(reader)
            try await Task.sleep(for: .milliseconds(100))
            let before = Used(thread)
            run.begin()
            let start = plain_now()
            let written = plain_route_churn(writer, run.count)
            let seconds = Double(plain_now() - start) / 1e9
            run.end()
            try await Task.sleep(for: .milliseconds(300))  // all is read
            before.note(run, written, seconds)
            run.note("read", Double(plain_reader_messages(reader)))
            run.note("dropped", Double(max(0, written - plain_reader_messages(reader))))
            run.note("updates", 0)
            plain_reader_will_end(reader)
            try network.device.ip("link set eth0 alias end")
            plain_reader_join(reader)
        }
    }

    static func uplink(_ run: Run, isFiltered: Bool) async throws {
        try await withQuietNetwork { network in
            let writer = plain_netlink(network.device.path)
            defer { close(writer) }
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                var configuration = LinuxNetworkMonitor.Configuration()
                configuration.kernelFilter = isFiltered
                let monitor = LinuxNetworkMonitor(on: loop, configuration: configuration)
                var paths = monitor.paths.makeAsyncIterator()
                _ = try await paths.next()
                let thread = await OnLoop(loop).thread
                let earlier = await monitor.statistics
                try await Task.sleep(for: .milliseconds(100))  // the loop has come to rest
                let before = Used(thread)
                run.begin()
                let start = plain_now()
                let written = plain_route_churn(writer, run.count)
                let seconds = Double(plain_now() - start) / 1e9
                run.end()
                try await Task.sleep(for: .milliseconds(300))
                before.note(run, written, seconds)
                let statistics = await monitor.statistics
                run.note("read", Double(statistics.messages - earlier.messages))
                run.note("dropped", Double(statistics.dropped - earlier.dropped))
                run.note("updates", Double(statistics.told - earlier.told))
            }
        }
    }
}

/// Opening all there is, up to the first answer.
enum Start {
    private static let starts = 21

    static func plain(_ run: Run) async throws {
        try await withLinks(run) { network in
            try await note(run) { plain_take_stock(network.device.path) > run.count }
        }
    }

    static func uplink(_ run: Run) async throws {
        try await withLinks(run) { network in
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                try await note(run) {
                    let monitor = LinuxNetworkMonitor(on: loop)
                    for try await path in monitor.paths { return path.isSatisfied }
                    return false
                }
            }
        }
    }

    private static func note(_ run: Run, _ start: () async throws -> Bool) async throws {
        var times: [Double] = []
        run.begin()
        for _ in 0..<starts {
            let begin = plain_now()
            try run.check(try await start())
            times.append(Double(plain_now() - begin) / 1e9)
        }
        run.end(operations: starts)
        times.sort()
        run.note("p50", times[starts / 2])
        run.note("worst", times[starts - 1])
    }

    private static func withLinks(_ run: Run, _ body: (TestNetwork) async throws -> Void) async throws {
        try await withTestNetwork { network in
            let links = (0..<(run.count - 2) / 2).map {
                "link add v\($0) index \(1000 + $0) type veth peer name w\($0) index \(3000 + $0)"
            }
            try network.device.batch(links)
            try await body(network)
        }
    }
}

/// Nothing.
enum Idle {
    static func plain(_ run: Run) async throws {
        try await withQuietNetwork { network in
            let listener = plain_listener(network.device.path, 1 << 20)
            guard listener >= 0, let reader = plain_reader_start(listener) else { throw WrongResult() }
            try await rest(run, plain_reader_thread(reader))
        }
    }

    static func uplink(_ run: Run) async throws {
        try await withQuietNetwork { network in
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                let monitor = LinuxNetworkMonitor(on: loop)
                var paths = monitor.paths.makeAsyncIterator()
                _ = try await paths.next()
                try await rest(run, await OnLoop(loop).thread)
            }
        }
    }

    private static func rest(_ run: Run, _ thread: CInt) async throws {
        try await Task.sleep(for: .seconds(1))  // the loop has come to rest
        let before = Used(thread)
        run.begin()
        try await Task.sleep(for: .seconds(run.count))
        run.end()
        run.note("wake-ups", Double(plain_wakeups(thread) - before.wakeups))
    }
}
