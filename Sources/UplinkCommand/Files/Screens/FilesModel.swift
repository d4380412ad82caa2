// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Runs a ``FilesMachine``: carries out its effects, and passes it their results and the passing of time.
actor FilesModel {
    /// What the model needs from outside.
    struct Actions: Sendable {
        /// - Throws: Why the login failed.
        var logIn: @Sendable (LoginFields) async throws -> Session
        /// Forgets what was stored of this login.
        var logOut: @Sendable (LoginFields) async throws -> Void
    }

    /// A user who is logged in.
    struct Session: Sendable {
        let user: User
        let files: FileActions
        /// What the user should know about the login, if anything.
        var note: String?
    }

    /// How often the screen is updated while something is going on.
    static let turnTime = Duration.milliseconds(100)
    /// How long to wait before pending changes are tried again, at first and at most: a server may come back unnoticed.
    static let (firstPause, longestPause) = (Duration.seconds(5), Duration.seconds(60))

    /// An element whenever there is something new to draw; a slow terminal gets one for all that it has missed. Ends
    /// when the user quits.
    nonisolated let changes: AsyncStream<Void>
    private(set) var machine: FilesMachine
    private let actions: Actions
    private let clock: any Clock<Duration>
    private let changed: AsyncStream<Void>.Continuation
    private var files: FileActions?
    private var jobs: [Int: Job] = [:]
    /// The tasks that follow the network and pending changes, and the one that keeps time.
    private var followers: [Task<Void, Never>] = []
    private var ticker: Task<Void, Never>?
    /// Sends pending changes, concurrently with everything else.
    private var sender: Task<Void, Never>?
    /// Whether to send once more when ``sender`` is done.
    private var sendsAgain = false
    /// Tries again from time to time, as long as something waits.
    private var retrier: Task<Void, Never>?
    private var hasEnded = false

    private struct Job {
        let task: Task<Void, Never>
        let transferred: Locked<Transferred?>
    }

    init(_ machine: FilesMachine, actions: Actions, clock: any Clock<Duration>) {
        self.machine = machine
        self.actions = actions
        self.clock = clock
        (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Logs in with what is known already.
    func begin() { carryOut(machine.begin()) }

    /// Handles an event from the terminal.
    func take(_ event: FilesEvent) { carryOut(machine.take(event)) }

    /// Gives up everything going on, and waits until nothing of it is left.
    func end() async {
        hasEnded = true
        changed.finish()
        let left = jobs.values.map(\.task) + followers + [ticker, sender, retrier].compactMap(\.self)
        for task in left { task.cancel() }
        for task in left { await task.value }
    }

    private func carryOut(_ effects: [FilesEffect]) {
        guard !hasEnded else { return }
        for effect in effects {
            switch effect {
            case .start(let id, let job): start(id, job)
            case .cancel(let id): jobs[id]?.task.cancel()
            case .send: send()
            case .quit: changed.finish()
            }
        }
        keepTime()
        keepTrying()
        changed.yield()
    }

    private func start(_ id: Int, _ job: FilesJob) {
        let transferred = Locked<Transferred?>(nil)
        let task = Task(name: "job") {
            let result: Result<FilesResult, FilesFailure>
            do {
                result = .success(
                    try await self.run(job) { done, expected in
                        transferred.withLock { $0 = Transferred(done: done, expected: expected) }
                    })
            } catch {
                result = .failure(FilesFailure(error))
            }
            self.ended(id, job, result)
        }
        jobs[id] = Job(task: task, transferred: transferred)
    }

    private func ended(_ id: Int, _ job: FilesJob, _ result: Result<FilesResult, FilesFailure>) {
        jobs[id] = nil
        if case (.logOut, .success) = (job, result) { leave() }
        take(.ended(id, result))
    }

    private func run(_ job: FilesJob, progress: @escaping TransferProgress) async throws -> FilesResult {
        switch job {
        case .logIn(let fields):
            let session = try await actions.logIn(fields)
            try Task.checkCancellation()
            enter(session.files)
            return .loggedIn(session.user, note: session.note)
        case .logOut(let fields):
            try await actions.logOut(fields)
            return .done
        case .list, .read, .save, .makeFolder, .upload, .delete, .retry, .discard:
            guard let files else { throw CancellationError() }  // no user is logged in any more
            return try await files.run(job, progress: progress)
        }
    }

    private func enter(_ files: FileActions) {
        leave()
        self.files = files
        followers = [
            Task(name: "network") { for await isThere in files.networkChanges() { self.take(.network(isThere)) } },
            Task(name: "pending") { for await changes in files.pendingChanges() { self.take(.pending(changes)) } },
        ]
    }

    private func leave() {
        for follower in followers + [sender, retrier].compactMap(\.self) { follower.cancel() }
        files = nil
    }

    private func send() {
        guard let files, !hasEnded else { return }
        sendsAgain = sender != nil
        guard sender == nil else { return }
        sender = Task(name: "sender") {
            // The result is reported to those that follow the changes.
            try? await files.send()
            self.sender = nil
            if self.sendsAgain { self.send() }
        }
    }

    private func keepTrying() {
        guard machine.pending.contains(where: { !$0.isConflict }) else {
            retrier?.cancel()
            retrier = nil
            return
        }
        guard retrier == nil, files != nil else { return }
        retrier = Task(name: "retrier") {
            var pause = Self.firstPause
            while (try? await self.clock.sleep(for: pause)) != nil, !Task.isCancelled {
                pause = min(Self.longestPause, pause * 2)
                self.send()
            }
        }
    }

    /// Ticks only while something is going on.
    private func keepTime() {
        guard machine.work != nil else {
            ticker?.cancel()
            ticker = nil
            return
        }
        guard ticker == nil else { return }
        ticker = Task(name: "ticker") {
            while (try? await self.clock.sleep(for: Self.turnTime)) != nil, !Task.isCancelled {
                self.take(.turn(self.machine.work.flatMap { self.jobs[$0.id]?.transferred.withLock { $0 } }))
            }
        }
    }
}
