// SPDX-License-Identifier: Apache-2.0

/// Leads from the demo's loading screen to its result. Knows neither terminal nor network.
///
/// Each run is one scope: when its result is shown, none of its timers is left to affect a later run.
actor DemoModel {
    /// What the model needs from outside.
    struct Actions: Sendable {
        /// Loads the picture, or throws, within the demo's time limit.
        var loadPicture: @Sendable () async throws -> Picture
        /// Whether the network is there: as soon as it is known, and at every change. Ends when cancelled.
        var networkChanges: @Sendable () -> AsyncStream<Bool>
    }

    /// How long the network may be away before the loading screen says so.
    static let patience = Duration.milliseconds(500)

    /// The screens to draw; a slow terminal gets only the newest. For one consumer.
    nonisolated let screens: AsyncStream<DemoScreen>
    /// The current screen.
    private(set) var screen = DemoScreen.loading(saysNoNetwork: false)
    /// Whether the network is there, as far as this run knows.
    private(set) var isNetworkThere = false

    private let actions: Actions
    private let clock: any Clock<Duration>
    private let shown: AsyncStream<DemoScreen>.Continuation
    private var isRunning = false
    private var isDone: Bool { if case .picture = screen { true } else { false } }
    /// How often the network went or came, so that a timer of an earlier absence has no effect.
    private var changes = 0

    init(actions: Actions, clock: any Clock<Duration>) {
        self.actions = actions
        self.clock = clock
        (screens, shown) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Loads the picture and shows the result; after a failure it can be called again. Does nothing while it loads, and
    /// once the picture is shown.
    func run() async {
        guard !isRunning, !isDone else { return }
        isRunning = true
        isNetworkThere = false
        defer { isRunning = false }
        show(.loading(saysNoNetwork: false))
        let result = await withTaskGroup(of: DemoScreen?.self) { group in
            group.addTask { await self.load() }
            group.addTask {
                await self.watchNetwork()
                return nil
            }
            var result: DemoScreen?
            while result == nil, let finished = await group.next() { result = finished }
            group.cancelAll()
            return result
        }
        if let result, !Task.isCancelled { show(result) }
    }

    private func load() async -> DemoScreen {
        var picture: Result<Picture, any Error> = .failure(CancellationError())
        let duration = await clock.measure {
            do { picture = .success(try await actions.loadPicture()) } catch { picture = .failure(error) }
        }
        switch picture {
        case .success(let picture): return .picture(DemoResult(picture: picture, duration: duration))
        case .failure(let error): return .failure(error as? DemoFailure ?? .other("\(error)"))
        }
    }

    private func watchNetwork() async {
        await withTaskGroup { group in
            group.addTask { [absence = changes] in await self.waitOut(absence) }
            for await isThereNow in actions.networkChanges() where isThereNow != isNetworkThere {
                isNetworkThere = isThereNow
                changes += 1
                if isThereNow {
                    show(.loading(saysNoNetwork: false))
                } else {
                    group.addTask { [absence = changes] in await self.waitOut(absence) }
                }
            }
        }
    }

    private func waitOut(_ absence: Int) async {
        do { try await clock.sleep(for: Self.patience) } catch { return }  // the run is over
        if absence == changes { show(.loading(saysNoNetwork: true)) }
    }

    private func show(_ next: DemoScreen) {
        screen = next
        shown.yield(next)
    }
}
