// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Uplink

/// The demo with everything that is real: monitor, performer, HTTP client and terminal.
struct Demo: Sendable {
    let url: URLArgument

    /// Runs to the end, on a terminal if there is one, with `play` running concurrently.
    ///
    /// - Throws: `ExitCode` 1 when no picture was shown, 130 after Ctrl-C.
    func run(_ play: @escaping @Sendable () async throws -> Void = {}) async throws {
        let url = url
        let screen = try await untilInterrupted {
            try await withHTTPClient { client in
                let model = DemoModel(
                    actions: .init(
                        url: url, monitor: LinuxNetworkMonitor.shared,
                        performer: NetworkOperationPerformer(), client: client),
                    clock: ContinuousClock())
                let session = DemoSession(model: model, source: url.text)
                async let played: Void = play()
                let isInteractive = Output.standard.isTerminal && isatty(STDIN_FILENO) == 1
                let screen = try await isInteractive ? session.runOnTerminal() : session.runPlainly()
                // Quitting while it loads must not wait for what is still to happen: leaving cancels that.
                if !screen.isLoading { try await played }
                return screen
            }
        }
        guard case .picture = screen else { throw ExitCode(1) }
    }
}
