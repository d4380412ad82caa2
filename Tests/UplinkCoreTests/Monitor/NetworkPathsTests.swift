// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct NetworkPathsTests {
    @Test func aNewSubscriberGetsTheCurrentPathThenChanges() async throws {
        let monitor = StubNetworkMonitor(.online())
        var paths = monitor.paths.makeAsyncIterator()
        #expect(try await paths.next()?.isSatisfied == true)
        monitor.goOffline()
        #expect(try await paths.next()?.isSatisfied == false)
    }

    @Test func equalPathsAreToldOnce() async throws {
        let broadcaster = NetworkPathBroadcaster()
        var paths = broadcaster.paths.makeAsyncIterator()
        let (first, second) = (NetworkPath(generation: 1), NetworkPath(generation: 2))
        broadcaster.send(first)
        #expect(try await paths.next() == first)
        broadcaster.send(first)
        broadcaster.send(second)
        #expect(try await paths.next() == second)
    }

    /// A monitor that looks only while somebody subscribes must not be left with an old path, which a performer would
    /// trust.
    @Test func thePathIsForgottenWithTheLastSubscriber() async throws {
        let broadcaster = NetworkPathBroadcaster()
        broadcaster.send(.online())
        #expect(broadcaster.currentPath == nil)
        do {
            var (first, second) = (broadcaster.paths.makeAsyncIterator(), broadcaster.paths.makeAsyncIterator())
            broadcaster.send(.online())
            #expect(try await first.next()?.generation == 1)
            #expect(try await second.next()?.generation == 1)
        }
        #expect(broadcaster.currentPath == nil)
        broadcaster.send(.online())  // by a poll that was under way
        #expect(broadcaster.currentPath == nil)
        var third = broadcaster.paths.makeAsyncIterator()
        broadcaster.send(.offline())
        let path = try await third.next()
        #expect(path?.isSatisfied == false)
        #expect(path?.generation == 4)  // what was not seen counts
    }

    @Test func aPathThatIsKeptStays() async throws {
        let broadcaster = NetworkPathBroadcaster(keepsPath: true)
        broadcaster.send(.online())
        for try await _ in broadcaster.paths { break }
        #expect(broadcaster.currentPath?.generation == 0)
        for try await path in broadcaster.paths {
            #expect(path.isSatisfied)
            break
        }
        broadcaster.forgetIfUnobserved()
        #expect(broadcaster.currentPath == nil)
    }

    @Test func pathsThatAMonitorDoesNotNumberAreNumbered() async throws {
        let broadcaster = NetworkPathBroadcaster(keepsPath: true)
        var paths = broadcaster.paths.makeAsyncIterator()
        var seen: [UInt64?] = []
        let sent: [NetworkPath] = [.offline(), .online(), .online(), .offline(), NetworkPath(generation: 9), .online()]
        for path in sent {
            let before = broadcaster.currentPath
            broadcaster.send(path)
            if broadcaster.currentPath != before { seen.append(try await paths.next()?.generation) }
        }
        #expect(seen == [0, 1, 2, 9, 10])  // the second `online` is no news
        broadcaster.forget()
        broadcaster.send(.online())
        #expect(broadcaster.currentPath?.generation == 12)  // what was not seen counts
    }

    @Test func aPathThatGetsAnotherNumberIsToldToNobodyAgain() async throws {
        let broadcaster = NetworkPathBroadcaster()
        var early = broadcaster.paths.makeAsyncIterator()
        broadcaster.renumber(to: 7)
        #expect(broadcaster.currentPath == nil)
        broadcaster.send(.online())
        #expect(try await early.next()?.generation == 0)
        broadcaster.renumber(to: 3)
        #expect(broadcaster.currentPath?.generation == 3)
        broadcaster.renumber(to: 3)  // a gap, though its own numbers are ahead of the monitor's
        #expect(broadcaster.currentPath?.generation == 5)
        var late = broadcaster.paths.makeAsyncIterator()
        #expect(try await late.next()?.generation == 5)
        broadcaster.send(.offline())
        #expect(try await early.next()?.generation == 6)  // nothing came before it
        #expect(broadcaster.supersededPaths == 0)
    }

    @Test func everySubscriberSeesAllAndASlowOneTheNewest() async throws {
        let monitor = StubNetworkMonitor(.offline())
        var (quick, slow) = (monitor.paths.makeAsyncIterator(), monitor.paths.makeAsyncIterator())
        var seen: [UInt64?] = [try await quick.next()?.generation]
        for _ in 0..<5 {
            monitor.goOnline()
            seen.append(try await quick.next()?.generation)
        }
        #expect(seen == [1, 2, 3, 4, 5, 6])
        #expect(try await slow.next()?.generation == 6)
    }

    @Test func leavingTheLoopUnsubscribes() async throws {
        let monitor = StubNetworkMonitor(.online())
        for try await _ in monitor.paths {
            #expect(monitor.isObserved)
            break
        }
        #expect(!monitor.isObserved)
        #expect(monitor.starts == 1)
    }

    @Test func stopEndsStreamsAndLaterOnes() async throws {
        let monitor = StubNetworkMonitor(.online())
        var paths = monitor.paths.makeAsyncIterator()
        _ = try await paths.next()
        let waiting = Task { [paths] in
            var paths = paths
            return try await paths.next() == nil
        }
        monitor.stop()
        #expect(try await waiting.value)
        var later = monitor.paths.makeAsyncIterator()
        #expect(try await later.next() == nil)
    }

    @Test func aFailureIsThrownOnceAndTheMonitorCanBeAskedAgain() async throws {
        let monitor = StubNetworkMonitor()
        var paths = monitor.paths.makeAsyncIterator()
        monitor.fail(NetworkMonitorError(.failed, message: "gone"))
        await #expect(throws: NetworkMonitorError.self) { try await paths.next() }
        #expect(try await paths.next() == nil)
        monitor.goOnline()
        var again = monitor.paths.makeAsyncIterator()
        #expect(try await again.next()?.isSatisfied == true)
    }

    @Test func aCancelledTaskGetsTheEnd() async throws {
        let monitor = StubNetworkMonitor()
        let task = Task {
            var paths = monitor.paths.makeAsyncIterator()
            return try await paths.next() == nil
        }
        task.cancel()
        #expect(try await task.value)
        #expect(!monitor.isObserved)
    }

    @Test func manySubscribersComingAndGoingLeaveNothing() async throws {
        let monitor = StubNetworkMonitor(.online())
        await withDiscardingTaskGroup { group in
            for index in 0..<1000 {
                group.addTask {
                    var paths = monitor.paths.makeAsyncIterator()
                    _ = try? await paths.next()
                    if index.isMultiple(of: 3) { monitor.goOffline() }
                    if index.isMultiple(of: 7) { monitor.goOnline() }
                }
            }
        }
        #expect(!monitor.isObserved)
    }

    @Test func descriptionsSayWhatIsThere() {
        #expect(NetworkPath.online(interface: "wlan0", kind: .wifi).description == "satisfied: wlan0 (wifi), IPv4")
        #expect(NetworkPath.offline(.linkDown).description == "unsatisfied: the link is down")
    }
}
