// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// A request's body on its way into libcurl. Only for the loop's thread.
///
/// Bytes in memory are copied when libcurl asks. All others come through a pipe from a task that produces them, which
/// is started when libcurl asks for the first time.
final class Upload {
    private let body: PreparedBody
    private let loop: EventLoop
    private let priority: TaskPriority
    /// Makes the engine look again; may be called from any thread.
    private let tell: @Sendable () -> Void
    private var pipe: UploadPipe?
    private var producer: Task<Void, Never>?
    private var runsForeignCode = false
    /// How many bytes libcurl has taken, in this sending.
    private(set) var sent: Int64 = 0
    /// How many bytes have been reported to the observer.
    private var reported: Int64 = 0
    /// Whether libcurl was told to wait.
    private(set) var isPaused = false
    /// Whether libcurl was told that this is all.
    private var hasEnded = false

    init(_ body: PreparedBody, on loop: EventLoop, priority: TaskPriority, tell: @escaping @Sendable () -> Void) {
        (self.body, self.loop, self.priority, self.tell) = (body, loop, priority, tell)
    }

    /// How many bytes there are, if that is known.
    var length: Int64? { body.length }

    /// Whether the server should say first that it wants the body.
    var expectsContinue: Bool { body.expectsContinue && length != 0 }

    /// The reason why there is no whole body: the producer's error, or ours.
    var failure: (any Error)? { pipe?.failure }

    /// Whether libcurl has asked for it.
    var hasBegun: Bool { sent > 0 || pipe != nil }

    /// Whether libcurl has everything.
    var isWhole: Bool { sent == length || hasEnded }

    /// Whether libcurl can be given it from the start, and does not have all of it yet.
    var canBeRepeated: Bool { !hasBegun || body.isReplayable && !isWhole }

    // MARK: libcurl asks

    /// Gives libcurl what it asks for. If the body has failed, ``failure`` says why.
    func read(into memory: UnsafeMutableRawBufferPointer) -> UploadReading {
        isPaused = false
        let reading: UploadReading =
            switch body.content {
            case .none: .end
            case .bytes(let bytes): copy(bytes, into: memory)
            case .production(let production): (pipe ?? begin(production)).take(into: memory)
            }
        switch reading {
        case .bytes(let count): sent += Int64(count)
        case .wait: isPaused = true
        case .end: hasEnded = true
        case .failed: break
        }
        return reading
    }

    /// Makes libcurl ask again soon, although there may be something now.
    func pause() { isPaused = true }

    /// Notes that libcurl asks again.
    func goOn() { isPaused = false }

    /// Starts the body again, because libcurl wants it from the start on another connection. Returns whether that is
    /// possible.
    ///
    /// - Parameter letGo: Receives what ends the sending so far.
    func rewind(_ letGo: (UploadEnd) -> Void) -> Bool {
        guard hasBegun else {
            hasEnded = false
            return true
        }
        guard body.isReplayable else { return false }
        if let end = stop() { letGo(end) }
        (pipe, producer) = (nil, nil)
        (sent, reported, hasEnded) = (0, 0, false)
        return true
    }

    private func copy(_ bytes: [UInt8], into memory: UnsafeMutableRawBufferPointer) -> UploadReading {
        let count = min(bytes.count - Int(sent), memory.count)
        guard count > 0 else { return .end }
        bytes.withUnsafeBytes { bytes in
            let start = Int(sent)
            memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
        }
        return .bytes(count)
    }

    private func begin(_ production: BodyProduction) -> UploadPipe {
        let pipe = UploadPipe(length: production.length, tell: tell)
        self.pipe = pipe
        // Our own code stays on the loop, where its reads come back; other code must not run there.
        runsForeignCode = production.runsForeignCode
        producer =
            runsForeignCode
            ? Task.detached(priority: priority) { await pipe.run(production) }
            : Task.detached(executorPreference: loop, priority: priority) { await pipe.run(production) }
        return pipe
    }

    // MARK: The turn

    /// Returns the producer if it has room again.
    func flush() -> Suspension? { pipe?.flush() }

    /// Takes the progress that has not been reported to the observer yet.
    func progress() -> HTTPEvent? {
        guard sent != reported else { return nil }
        reported = sent
        return .sent(bytes: sent, of: length)
    }

    /// Stops the sending, because the body is no longer wanted.
    func stop() -> UploadEnd? {
        guard let pipe, let producer else { return nil }
        self.producer = nil
        return UploadEnd(waiter: pipe.stop(), producer: producer, runsForeignCode: runsForeignCode)
    }
}

/// Ends a producer, outside any lock and C frame.
struct UploadEnd: Sendable {
    fileprivate let waiter: Suspension?
    fileprivate let producer: Task<Void, Never>
    fileprivate let runsForeignCode: Bool

    /// Cancelling runs handlers of the producer's author, so if that is foreign code, it is not done on the loop's
    /// thread.
    func perform() {
        waiter?.resume()
        guard runsForeignCode else { return producer.cancel() }
        Task.detached { [producer] in producer.cancel() }
    }
}
