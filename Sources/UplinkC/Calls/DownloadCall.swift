// SPDX-License-Identifier: Apache-2.0
import CUplink
import SystemPackage
import Uplink
import UplinkCore
import UplinkHTTP

/// A download that a program has asked for.
final class DownloadCall: Call {
    /// What a program is told at the end.
    private struct Ending: Sendable {
        var status: CInt
        var message: String
        var httpStatus: CInt = 0
        var kept: Int64 = 0
        var file: DownloadedFile?

        init(_ status: CInt, _ message: String? = nil) {
            (self.status, self.message) = (status, message ?? Status.text(status))
        }
    }

    private let task = CallTask()
    /// Raised when a callback has run.
    private let told = Signal()
    private let request: DownloadRequest
    private let done: uplink_download_cb
    private let user: UserPointer

    init(_ request: DownloadRequest, _ done: uplink_download_cb, _ user: UserPointer) {
        (self.request, self.done, self.user) = (request, done, user)
    }

    func cancel() {
        task.cancel()
        told.end()
    }

    func start(_ id: CallMachine.ID, in context: Context) {
        task.start(on: context) {
            let ending = await self.run(id, in: context)
            let last = CallMachine.Delivery(kind: .end) { self.tell(ending, of: id, in: context) }
            context.end(id, "download", ending.status, ending.message, last)
        }
    }

    private func run(_ id: CallMachine.ID, in context: Context) async -> Ending {
        let client = HTTPClient(transport: context.transport, configuration: request.configuration)
        let download = client.startDownload(
            request.head, to: request.target, within: request.limit ?? .seconds(Int64.max), options: request.options)
        return await withTaskCancellationHandler {
            if let callback = request.progress { await report(download, to: callback, of: id, in: context) }
            do {
                var ending = Ending(Status.ok)
                let file = try await download.value
                ending.httpStatus = file.head.map { CInt(clamping: $0.status.code) } ?? 0
                ending.file = file
                return ending
            } catch {
                return Self.ending(of: error, in: context)
            }
        } onCancel: {
            download.cancel()
        }
    }

    private static func ending(of error: any Error, in context: Context) -> Ending {
        guard let error = error as? DownloadError else {
            let isCancelled = error is CancellationError
            return Ending(isCancelled ? context.cancellation : Status.transfer, isCancelled ? nil : "\(error)")
        }
        var ending = Ending(Status.of(error, in: context), Advice.inC(error.message))
        ending.httpStatus = error.status.map { CInt(clamping: $0) } ?? 0
        ending.kept = error.keptBytes
        return ending
    }

    // MARK: Telling

    private func report(
        _ download: Download, to callback: uplink_download_progress_cb, of id: CallMachine.ID, in context: Context
    ) async {
        for await progress in download.progress {
            let event = CallMachine.Delivery(kind: .event(id)) { [told, user] in
                progress.withStructure { callback(context.pointer, id, $0, user.pointer) }
                told.raise()
            } drop: { [told] in
                told.raise()
            }
            guard context.queue.update({ $0.post(event) }) else { return }
            await told.wait()
        }
    }

    private func tell(_ ending: Ending, of id: CallMachine.ID, in context: Context) {
        let file = ending.file
        let number = { (count: Int?) in UInt32(clamping: count ?? 0) }
        request.path.withPlatformString { path in
            ending.message.withCString { message in
                (file?.url ?? "").withCString { url in
                    var result = uplink_download_result(
                        size: MemoryLayout<uplink_download_result>.size, status: ending.status,
                        http_status: ending.httpStatus, path: path, url: file == nil ? nil : url,
                        bytes: file?.byteCount ?? 0, transferred: file?.transferredBytes ?? 0, kept: ending.kept,
                        attempts: number(file?.attempts), resumptions: number(file?.resumptions),
                        restarts: number(file?.restarts), reserved: 0, message: message)
                    done(context.pointer, id, &result, user.pointer)
                }
            }
        }
    }
}
