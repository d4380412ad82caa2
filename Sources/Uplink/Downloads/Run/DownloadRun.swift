// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// The work of a download, which carries out what its machine decides.
///
/// One thing is done after the other, although in several tasks; the machine is behind a lock for the compiler's sake.
final class DownloadRun: Sendable {
    private let client: HTTPClient
    private let request: HTTPRequest
    private let url: String
    private let target: FilePath
    private let options: DownloadOptions
    private let core: DownloadCore
    private let loop: EventLoop
    private let network: DownloadNetwork
    private let place: DownloadPlace?
    private let machine: Locked<DownloadMachine>
    /// The last answer that bytes came from.
    private let lastResponse = Locked<(head: HTTPResponse?, url: String)>((nil, ""))

    init(
        _ client: HTTPClient, _ request: HTTPRequest, to target: FilePath, options: DownloadOptions,
        core: DownloadCore, place: DownloadPlace?
    ) throws(DownloadError) {
        try options.check(request)
        (self.client, self.target, self.options, self.core, self.place) = (client, target, options, core, place)
        self.request = request
        loop = options.eventLoop ?? .shared
        url = request.uncheckedURL
        network = DownloadNetwork(options, clock: core.clock)
        machine = Locked(DownloadMachine(url: url, limits: DownloadLimits(options)))
    }

    /// Does all the work, from opening the file to giving it its name.
    func run() async throws -> DownloadedFile {
        let asked = request.headerFields.wording(for: url)
        let file: PartialFile
        do {
            file = try await offLoop { [target, options] in
                try PartialFile(for: target, askedFor: asked, options: options)
            }
        } catch {
            throw reason(for: error)
        }
        let writer = PartialWriter(file, on: loop)
        let watch = Task(name: "download's network", executorPreference: preferredExecutor) { [network, core] in
            await network.watch { lacking in core.tell(if: { story, _ in story.sees(lacking: lacking) }) }
        }
        defer { watch.cancel() }
        do {
            try await adopt(file)
            let digest = try await receive(into: writer)
            return try await finish(file, digest)
        } catch {
            throw await conclude(error, writer)
        }
    }

    // MARK: Before

    /// Takes over what an earlier run has left.
    private func adopt(_ file: PartialFile) async throws {
        guard options.resumes, let (version, bytes) = try await offLoop({ file.found() }),
            decide({ $0.found(version, bytes: bytes) })
        else { return }
        try await offLoop { try file.adopt(version, bytes: bytes) }
        do {
            try await digest(file)
        } catch is DownloadError {
            // A later run would fail with it, too.
            decide { $0.lost() }
            try await offLoop { try file.forget() }
        }
    }

    /// Reads what is there into the digest, if one is wanted.
    private func digest(_ file: PartialFile) async throws {
        var offset: Int64 = 0
        while true {
            try Task.checkCancellation()
            let count = try await offLoop { [offset] in try file.digest(from: offset, upTo: 16 << 20) }
            if count == 0 { return }
            offset += Int64(count)
        }
    }

    // MARK: Attempts

    /// Makes attempts until all bytes are there and right. Returns their digest.
    private func receive(into writer: PartialWriter) async throws -> [UInt8]? {
        while true {
            core.tell { story, now in story.enter(.waitingForNetwork, at: now) }
            let (generation, hasBegun) = (Locked<UInt64?>(nil), Locked(false))
            var step: DownloadMachine.Step
            var digest: [UInt8]?
            do {
                step = try await network.attempt(waits: { place?.lend() }) {
                    if let place = self.place {
                        self.core.tell { story, now in story.enter(.connecting, at: now) }  // the network is there
                        await place.takeBack()
                        try Task.checkCancellation()
                    }
                    hasBegun.withLock { $0 = true }
                    generation.withLock { $0 = self.network.generation }
                    return try await self.attempt(into: writer)
                }
                core.remember(nil, status: machine.withLock { $0.refusal })
            } catch {
                try await writer.drain()
                if core.cause != nil { throw error }
                // The network went away while it waited for a place: nothing was tried.
                let isOnlyLost = (error as? NetworkOperationError)?.code == .networkLost
                if isOnlyLost, !hasBegun.withLock({ $0 }) { continue }
                core.remember(error, status: nil)
                step = decide { $0.failed(.init(error)) }
            }
            if case .complete = step {
                core.tell { story, now in story.enter(.verifying, at: now) }
                digest = try await offLoop { try writer.file.complete() }
                step = decide { [digest, options] in
                    $0.digested(digest, expected: options.checksum?.expected)
                }
            }
            switch step {
            case .complete: return digest
            case .fail(let error): throw error
            case .again(let pause, let reason):
                if machine.withLock({ $0.version == nil }) { try await offLoop { try writer.file.forget() } }
                core.tell { story, now in
                    if pause.length > .zero {
                        story.pause(for: pause.length, because: reason, at: now)
                    } else {
                        story.stumble(because: reason)
                    }
                }
                try await rest(for: pause, since: generation.withLock { $0 })
            }
        }
    }

    /// Pauses. A place in a batch is lent to another download meanwhile, and waited for afterwards.
    private func rest(for pause: DownloadMachine.Pause, since generation: UInt64?) async throws {
        guard pause.length > .zero else { return try Task.checkCancellation() }
        place?.lend()
        let isCutShort = try await network.rest(for: pause, since: generation)
        if isCutShort { decide { $0.pauseWasCutShort() } }
        await place?.takeBack()
        try Task.checkCancellation()
    }

    /// Asks once, and reads the answer to its end.
    private func attempt(into writer: PartialWriter) async throws -> DownloadMachine.Step {
        let plan = decide { $0.ask() }
        core.tell { story, now in story.enter(plan == .whole ? .connecting : .resuming, at: now) }
        let response = try await client.execute(request(for: plan), options: attemptOptions)
        let answer = DownloadAnswer(response)
        switch decide({ $0.answered(answer) }) {
        case .leave(let step):
            await response.body.discardIfShort()
            return step
        case .begin(let version): try await offLoop { try writer.file.begin(version) }
        case .append(let version):
            let offset = machine.withLock { $0.received }
            try await offLoop { try writer.file.goOn(version, at: offset) }
        }
        lastResponse.withLock { $0 = (response.head, response.url) }
        core.remember(nil, status: nil)
        core.tell { story, now in story.enter(.receiving, at: now) }
        return try await read(response.body, into: writer)
    }

    private func read(_ body: HTTPBody, into writer: PartialWriter) async throws -> DownloadMachine.Step {
        var iterator = body.makeAsyncIterator()
        while let chunk = try await iterator.next() {
            let step = decide { $0.received(chunk.count) }
            if let step {
                try await writer.drain()
                return step
            }
            try await writer.write(chunk)
            core.tell(if: { story, now in story.receive(chunk.count, at: now) })
        }
        try await writer.drain()
        return decide { $0.bodyEnded() }
    }

    private func request(for plan: DownloadMachine.Plan) -> HTTPRequest {
        var request = request
        // Asks for the file itself, without a coding, unless the caller wants one: offsets mean the same each time.
        if !request.headerFields.contains(.acceptEncoding) { request.headerFields[.acceptEncoding] = "identity" }
        switch plan {
        case .whole: break
        case .rest(let offset, let validator):
            request.headerFields[.range] = "bytes=\(offset)-"
            request.headerFields[.ifRange] = validator.text
        }
        return request
    }

    private var attemptOptions: HTTPRequestOptions {
        var attempt = options.request
        attempt.events = nil
        attempt.retry = .never
        var timeouts = attempt.timeouts ?? client.configuration.timeouts
        timeouts.total = nil
        attempt.timeouts = timeouts
        return attempt
    }

    // MARK: After

    /// Gives the whole file its name.
    private func finish(_ file: PartialFile, _ digest: [UInt8]?) async throws -> DownloadedFile {
        let machine = machine.withLock { $0 }
        try await offLoop { [core, options] in
            guard core.mayName() else { throw CancellationError() }
            try file.giveName(replacing: options.replacesExisting)
        }
        let (head, answeredURL) = lastResponse.withLock { $0 }
        var downloaded = DownloadedFile(
            path: target, byteCount: file.size, transferredBytes: machine.transferred,
            url: answeredURL.isEmpty ? url : answeredURL, head: head, checksum: digest, attempts: machine.attempts,
            resumptions: machine.resumptions, restarts: machine.restarts)
        downloaded.contentCodings = machine.version?.codings ?? []
        return downloaded
    }

    /// Releases the file, and returns the error to throw.
    private func conclude(_ error: any Error, _ writer: PartialWriter) async -> any Error {
        try? await writer.drain()
        let error = reason(for: error)
        let isWorthKeeping = options.resumes && machine.withLock { $0.isWorthKeeping(after: error) }
        let isHurried = core.cause != nil  // who cancelled does not want to wait, and after a deadline nobody can
        let kept = try? await offLoop { writer.file.abandon(keeping: isWorthKeeping, isHurried: isHurried) }
        guard var failure = error as? DownloadError else { return error }
        failure.keptBytes = kept ?? 0
        return failure
    }

    /// The error to throw for what went wrong.
    private func reason(for error: any Error) -> any Error {
        if let cause = core.cause { return core.error(for: cause, after: error) }
        guard let failure = error as? EventLoopError else { return error }
        var reason = DownloadError(
            .fileFailed, message: "the file cannot be written: \(failure)", underlyingError: failure)
        reason.errno = failure.errno
        return reason
    }

    /// Asks the machine, and records its numbers.
    private func decide<Decision: Sendable>(_ question: (inout DownloadMachine) -> Decision) -> Decision {
        let remaining = core.remaining
        let (decision, numbers) = machine.withLock { machine in
            machine.remaining = remaining
            return (question(&machine), machine)
        }
        core.note { $0.count(numbers) }
        return decision
    }

    /// Runs work that may block where it holds nothing up. Not cancelled with the task.
    private func offLoop<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await loop.offLoop(work)
    }
}
