// SPDX-License-Identifier: Apache-2.0
import CLibUV
import Glibc
import UplinkCore

/// The thread of an event loop: its start, its turns and its end.
final class LoopThread: @unchecked Sendable {  // `state` is the loop thread's, `thread` the starter's and joiner's
    private(set) var state: LoopState?
    private var thread = pthread_t()
    private let isJoined = Locked(false)

    /// The thread-specific key under which a loop's thread keeps the loop; nil if the process has used up its 1,024.
    static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// Starts the thread and returns when its loop is ready; the thread keeps `loop` alive.
    func start(for loop: EventLoop, networkNamespace: String?) throws(EventLoopError) {
        if networkNamespace != nil { ThreadPool.makeThreads() }  // they would start in the loop's namespace
        let (result, started) = (Locked<EventLoopError?>(nil), Latch())
        let status = SignalMask.spawn(named: "uplink-loop", into: &thread) {
            do throws(EventLoopError) {
                if let networkNamespace { try Self.enter(networkNamespace) }
                self.state = try Self.makeState(of: loop)
            } catch {
                result.withLock { $0 = error }
            }
            started.open()
            guard let state = self.state else { return }
            Self.identify(as: loop) { state.run { self.state = nil } }
        }
        guard status == 0 else {
            _ = loop.inbox.finish()
            throw EventLoopError(.system, during: "starting a thread", errno: status)
        }
        started.wait()
        if let error = result.withLock({ $0 }) {
            join()
            _ = loop.inbox.finish()
            throw error
        }
    }

    /// Waits for the thread's end; may be called any number of times.
    func join() {
        isJoined.withLock { isJoined in
            if !isJoined { pthread_join(thread, nil) }
            isJoined = true
        }
    }

    /// Runs what reaches a loop after its end, so that no task waits forever.
    static func runLateEntries(of loop: EventLoop) {
        detach(named: "uplink-late") {
            identify(as: loop) {
                while let entries = loop.inbox.takeLate() { for entry in entries { loop.run(entry) } }
            }
        }
    }

    /// Runs `body` on a detached thread. If the system has none to give, waits until it has: somebody depends on this
    /// to continue.
    static func detach(named name: String, _ body: @escaping @Sendable () -> Void) {
        var pause: useconds_t = 1000
        while true {
            do throws(EventLoopError) {
                return try tryToDetach(named: name, body)
            } catch {
                usleep(pause)
                pause = min(pause * 2, 100_000)
            }
        }
    }

    /// Runs `body` on a detached thread, in the caller's network namespace.
    static func tryToDetach(named name: String, _ body: @escaping @Sendable () -> Void) throws(EventLoopError) {
        var thread = pthread_t()
        let status = SignalMask.spawn(named: name, into: &thread, body)
        guard status == 0 else { throw EventLoopError(.system, during: "starting a thread", errno: status) }
        pthread_detach(thread)
    }

    private static func makeState(of loop: EventLoop) throws(EventLoopError) -> LoopState {
        let state = try LoopState(loop: loop)
        do throws(EventLoopError) {
            try state.open()
        } catch {
            state.abandon()
            throw error
        }
        return state
    }

    private static func identify(as loop: EventLoop, _ body: () -> Void) {
        guard let key else { return }  // without one no loop is made
        pthread_setspecific(key, Unmanaged.passUnretained(loop).toOpaque())
        body()
        pthread_setspecific(key, nil)
    }

    /// The path of the process's network namespace, if the calling thread is in another one: this happens in workers of
    /// the default pool that were created by the thread of a loop in a namespace.
    static var wayToProcessNamespace: String? {
        let way = "/proc/self/ns/net"
        var (process, thread) = (stat(), stat())
        guard stat(way, &process) == 0, stat("/proc/thread-self/ns/net", &thread) == 0 else { return nil }
        return process.st_ino == thread.st_ino && process.st_dev == thread.st_dev ? nil : way
    }

    private static func enter(_ namespace: String) throws(EventLoopError) {
        let activity = "entering the network namespace `\(namespace)`"
        guard !namespace.isEmpty, !namespace.utf8.contains(0) else {
            throw EventLoopError(.networkNamespace, during: activity, errno: ENOENT)
        }
        let path = namespace.contains("/") ? namespace : "/run/netns/\(namespace)"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw EventLoopError(.networkNamespace, during: activity, errno: errno) }
        defer { close(descriptor) }
        guard setns(descriptor, uplink_clone_newnet) == 0 else {
            throw EventLoopError(.networkNamespace, during: activity, errno: errno)
        }
    }
}
