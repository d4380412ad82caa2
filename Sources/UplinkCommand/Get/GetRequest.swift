// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import HTTPTypes
import Uplink

/// One request of the command `get` whose answer is written as it comes, from the wait to the last byte.
struct GetRequest: Sendable {
    let request: HTTPRequest
    let body: HTTPRequestBody
    let client: HTTPClient.Configuration
    let transport: CurlTransport.Configuration
    let retries: HTTPRetryPolicy
    let target: DownloadTarget
    /// Whether to write the head of the answer before its body, to the same place.
    let printsHead: Bool
    /// Whether only the head is wanted, whatever the method.
    let printsHeadAlone: Bool
    let isVerbose: Bool
    /// Whether neither progress nor waiting is reported.
    let isSilent: Bool
    /// What to wait for; nil to start immediately.
    let requirement: NetworkRequirement?
    let monitor: LinuxNetworkMonitor
    let seconds: Double

    /// Waits for the network, then asks.
    ///
    /// - Throws: ``CommandFailure`` for a status of 400 or more, or what kept the whole answer from arriving.
    func run() async throws {
        guard let requirement else { return try await fetch() }
        let performer = NetworkOperationPerformer(monitor: monitor, clock: LoopClock.shared)
        try await WaitingNote.show(for: requirement, isWanted: !isSilent) { whenThere in
            try await performer.perform(within: .saturating(seconds: seconds), requiring: requirement) {
                whenThere()
                try await fetch()
            }
        }
    }

    private func fetch() async throws {
        let progress = ProgressLine(isWanted: !isSilent)
        var client = client
        // A file gets its name only when it is whole.
        if target.isFile { client.limits.requiresFramedBodies = true }
        guard isVerbose else { return try await fetch(with: client, progress, nil) }
        let telling = VerboseTelling()
        client.middlewares += [HTTPRetry(retries), telling]
        try await telling.tellingAll(to: { lines in progress.writeAbove { tell(lines) } }) {
            try await fetch(with: client, progress, telling)
        }
    }

    private func fetch(
        with client: HTTPClient.Configuration, _ progress: ProgressLine, _ telling: VerboseTelling?
    ) async throws {
        try await withHTTPClient(configuration: client, transport: transport) { client in
            let events = HTTPEvents()
            defer { progress.end() }
            let watching = Task {
                for await event in events {
                    if case .sent(let bytes, let total) = event { progress.show(bytes, of: total) }
                }
            }
            var options = HTTPRequestOptions(events: events, retry: retries)
            if let telling { options.observer = telling.take }
            do {
                let response = try await client.execute(asked, body: body, options: options)
                await telling?.catchUp()
                try await deliver(response, progress)
            } catch {
                await watching.value
                throw error
            }
            await watching.value
        }
    }

    /// The request; for a file, whose bytes are wanted as they are.
    private var asked: HTTPRequest {
        var request = request
        if target.isFile, request.headerFields[.acceptEncoding] == nil {
            request.headerFields[.acceptEncoding] = "identity"
        }
        return request
    }

    private func deliver(_ response: HTTPClientResponse, _ progress: ProgressLine) async throws {
        let head = printsHead ? text(of: response) : ""
        let url = response.url.prefix { $0 != "?" }  // a query may be a signature
        guard response.status.code < 400 else {
            // If the head is to be printed, so is the body that says why it failed; but a file is only for what was
            // asked for.
            if printsHead, !target.isFile { try await write(head, response.body, progress) }
            throw CommandFailure("\(url): the server answered \(Self.safe("\(response.status)"))")
        }
        if target.isFile, !printsHead {
            if response.status == .notModified {
                if !isSilent { tell(["\(url): not modified; nothing was written"]) }
                return
            }
            guard response.status.kind == .successful else {
                throw CommandFailure("\(url): the server answered \(Self.safe("\(response.status)")), which is no file")
            }
            if response.status == .partialContent, request.headerFields[.range] == nil {
                throw CommandFailure("\(url): the server answered 206 with a part of the file, which nobody asked for")
            }
        }
        try await write(head, printsHeadAlone ? HTTPBody([]) : response.body, progress)
    }

    private func text(of response: HTTPClientResponse) -> String {
        // A terminal would interpret a server's control characters; a program gets them as they came.
        let lines = Transcript.headLines(response.head, response.version).map { target.isTerminal ? Self.safe($0) : $0 }
        return lines.map { "\($0)\r\n" }.joined() + "\r\n"
    }

    private func write(_ head: String, _ body: HTTPBody, _ progress: ProgressLine) async throws {
        switch target {
        case .existing: break  // the command has handled that
        case .file(let path, let replacingExisting):
            let body = PrecededBody.body(Array(head.utf8), then: body)
            let permissions = DownloadTarget.permissions(of: path)
            try await body.write(to: path, replacingExisting: replacingExisting, permissions: permissions) {
                progress.show($0.written, of: $0.expected)
            }
        case .stream(let output):
            // On a terminal that shows the body, the progress line would overwrite it.
            if target.isTerminal { progress.end() }
            try output.write(head)
            var written: Int64 = 0
            for try await chunk in body {
                do { try chunk.withUnsafeBytes { try output.write($0) } } catch let error as OutputError
                    where error.isClosed
                {
                    throw ExitCode(1)  // the reader has seen enough; no message is wanted
                }
                written += Int64(chunk.count)
                progress.show(written, of: body.contentLength)
            }
        }
    }

    private func tell(_ lines: [String]) {
        for line in lines { try? Output.error.write("\(Self.safe(line))\n") }  // a courtesy
    }

    private static func safe(_ line: String) -> String { Text.oneLine(line).plain }
}
