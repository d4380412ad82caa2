// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
public import SystemPackage
import UplinkCore
public import UplinkHTTP

extension HTTPClient {
    /// Downloads a file, and returns when it is whole and has its name.
    ///
    /// ```swift
    /// let file = try await client.download("https://example.org/disk.iso", to: "disk.iso", within: .seconds(3600))
    /// ```
    ///
    /// The bytes go to a hidden file beside the target (mode 0600), which is synchronised and renamed when it is whole.
    /// When the network is lost, the connection breaks or the server is away, the download waits, and then goes on from
    /// where it was (RFC 9110, section 14) if the server confirms with a strong validator that it still has the same
    /// file; otherwise it starts over. The next download to the same target picks up what a failed or killed one has
    /// left.
    ///
    /// Cancelling the task cancels the download.
    ///
    /// - Parameters:
    ///   - url: An absolute `http` or `https` URL (RFC 3986).
    ///   - target: The file's path, for which a slash at the end makes no difference. Its directory must exist.
    ///   - limit: One deadline over everything: waiting for the network, attempts, pauses, and completing the file.
    ///     More than 292 years are no limit.
    ///   - headers: Fields to send with each attempt; they may not ask for a part of the resource.
    ///   - options: What this download does differently.
    /// - Returns: The whole file.
    /// - Throws: ``DownloadError``, or `CancellationError`. There is then nothing new under the target's name.
    public func download(
        _ url: String, to target: FilePath, within limit: Duration, headers: HTTPFields = [:],
        options: DownloadOptions = .init()
    ) async throws -> DownloadedFile {
        try Task.checkCancellation()
        return try await startDownload(url, to: target, within: limit, headers: headers, options: options).ended()
    }

    /// Downloads what a request asks for; see ``download(_:to:within:headers:options:)``.
    ///
    /// - Parameters:
    ///   - request: With the method GET.
    ///   - target: The file's path. Its directory must exist.
    ///   - limit: One deadline over everything.
    ///   - options: What this download does differently.
    public func download(
        _ request: HTTPRequest, to target: FilePath, within limit: Duration, options: DownloadOptions = .init()
    ) async throws -> DownloadedFile {
        try Task.checkCancellation()
        return try await startDownload(request, to: target, within: limit, options: options).ended()
    }

    /// Starts a download and returns immediately, with a handle to its progress and its outcome, and to cancel it.
    ///
    /// As ``download(_:to:within:headers:options:)``; the limit counts from this call. An invalid URL or option is
    /// reported as the outcome. The work is done by tasks that have the executor preference of the caller's task.
    @discardableResult
    public func startDownload(
        _ url: String, to target: FilePath, within limit: Duration, headers: HTTPFields = [:],
        options: DownloadOptions = .init()
    ) -> Download {
        startDownload(url, to: target, within: limit, headers: headers, options: options, place: nil)
    }

    /// - Parameter place: The download's place in its batch; nil outside of one.
    func startDownload(
        _ url: String, to target: FilePath, within limit: Duration, headers: HTTPFields, options: DownloadOptions,
        place: DownloadPlace?
    ) -> Download {
        do {
            let request = try HTTPRequest(parsing: url, headerFields: headers)
            return startDownload(request, to: target, within: limit, options: options, place: place)
        } catch {
            let error = DownloadError(.invalidOptions, message: "\(error)", underlyingError: error)
            return start("", to: target, within: limit, options: options) { _ in throw error }
        }
    }

    /// Starts the download of what a request asks for; see ``startDownload(_:to:within:headers:options:)``.
    @discardableResult
    public func startDownload(
        _ request: HTTPRequest, to target: FilePath, within limit: Duration, options: DownloadOptions = .init()
    ) -> Download {
        startDownload(request, to: target, within: limit, options: options, place: nil)
    }

    private func startDownload(
        _ request: HTTPRequest, to target: FilePath, within limit: Duration, options: DownloadOptions,
        place: DownloadPlace?
    ) -> Download {
        start(request.redactedURL, to: target, within: limit, options: options) { core in
            try await DownloadRun(self, request, to: target, options: options, core: core, place: place).run()
        }
    }

    private func start(
        _ url: String, to target: FilePath, within limit: Duration, options: DownloadOptions,
        _ work: @escaping @Sendable (DownloadCore) async throws -> DownloadedFile
    ) -> Download {
        let core = DownloadCore(url, to: target, options: options, within: limit)
        core.start { try await work(core) }
        return Download(core: core)
    }
}
