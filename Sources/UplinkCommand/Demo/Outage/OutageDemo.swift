// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import Uplink
import UplinkCore

/// A real download while an ``OutageScript`` is played, and the screen that shows both.
struct OutageDemo: Sendable {
    let script: OutageScript
    let url: String
    let directory: String
    /// Makes the server's side do something.
    let order: @Sendable (String) async throws -> Void

    private static let frameTime = Duration.milliseconds(100)
    /// How long the download may take to notice an outage before the script goes on.
    private static let patience = Duration.seconds(20)

    /// Runs to the end.
    ///
    /// - Throws: ``CommandFailure`` when the file is not whole and right.
    func run() async throws {
        let screen = OutageScreen(script)
        defer { screen.endLine() }  // what follows is not for the bar's line
        let file = OutageFile(byteCount: script.byteCount)
        let download = try start()
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup { group in
                group.addTask {
                    do {
                        try await play(download, screen)
                    } catch {
                        download.cancel()  // nothing will end the outage
                        throw error
                    }
                }
                group.addTask { for await progress in download.progress { screen.note(progress) } }
                group.addTask {
                    while !download.currentProgress.hasEnded {
                        screen.draw(download.currentProgress)
                        try await Task.sleep(for: Self.frameTime)
                    }
                }
                async let expected = EventLoop.shared.offLoop { file.sha256 }
                let downloaded: DownloadedFile
                do {
                    downloaded = try await download.value
                } catch {
                    try await group.waitForAll()  // an error of the script's is the reason
                    throw error
                }
                try await group.waitForAll()
                screen.draw(download.currentProgress)
                try await screen.end(downloaded, expecting: expected)
            }
        } onCancel: {
            download.cancel()
        }
    }

    private func start() throws -> Download {
        var options = DownloadOptions()
        options.checksum = .sha256()
        let target = FilePath(directory).appending("disk.img")
        return HTTPClient.shared.startDownload(url, to: target, within: .seconds(600), options: options)
    }

    /// Begins and ends the outages.
    private func play(_ download: Download, _ screen: OutageScreen) async throws {
        for (number, (mark, outage)) in script.outages.enumerated() {
            guard try await until(download, { $0.receivedBytes >= mark }) else { return }
            screen.say(outage.beginning)
            try await order(outage.orders.begin)
            await noticed(download)
            try await Task.sleep(for: .seconds(script.pause))
            let limit = "\(script.limit(afterOutages: number + 1))"
            try await order(limit)
            screen.say(outage.ending)
            try await order(outage.orders.end)
        }
    }

    private func noticed(_ download: Download) async {
        await withTaskGroup { group in
            group.addTask { _ = try? await until(download) { $0.phase != .receiving } }
            group.addTask { try? await Task.sleep(for: Self.patience) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits until the download is in a state; false when it ends before. It polls, because not every byte is published
    /// as it comes.
    private func until(_ download: Download, _ isSo: (DownloadProgress) -> Bool) async throws -> Bool {
        while true {
            let progress = download.currentProgress
            if progress.hasEnded { return false }
            if isSo(progress) { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

extension DownloadProgress {
    /// Whether nothing more will happen.
    var hasEnded: Bool { phase == .finished || phase == .failed }
}
