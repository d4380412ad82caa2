// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkHTTP

/// What `--verbose` prints about a request, line by line, in curl(1)'s manner: `*` for what happens, `>` for what goes
/// out, `<` for what comes in.
enum Transcript {
    /// Fields that are not shown, because the output may end up in a log or a bug report.
    private static let secret: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie, .setCookie]
    /// Fields with URLs that the user has not seen: their queries may contain a signature.
    private static let urls = Set(
        [.location, .contentLocation] + ["Link", "Refresh"].compactMap { HTTPField.Name($0) })

    /// What goes out, as far as it is known here: the length of a file is known only when it is opened.
    ///
    /// - Parameter isRedirected: Whether a server has chosen the URL.
    static func lines(of request: HTTPRequest, _ body: HTTPRequestBody, isRedirected: Bool = false) -> [String] {
        let path = request.path ?? "/"
        let line = "> \(request.method.rawValue) \(isRedirected ? withoutQueryAndFragment(path) : path) HTTP/1.1"
        let host = "> Host: \(request.authority ?? "")"
        // Without one, libcurl sends its own; an empty one is not sent.
        let accept = request.headerFields.contains(.accept) ? [] : ["> Accept: */*"]
        let fields = request.headerFields.filter { $0.name != .accept || !$0.value.isEmpty }
            .map { "> \($0.name.rawName): \(shown($0))" }
        let length = body.isNone && [.post, .put, .patch].contains(request.method) ? 0 : body.length
        return [line, host] + accept + fields + (length.map { ["> Content-Length: \($0)"] } ?? [])
    }

    /// The head that came.
    static func lines(of response: HTTPResponse, _ version: String) -> [String] {
        ["< \(version) \(response.status)"] + response.headerFields.map { "< \($0.name.rawName): \(shown($0))" }
    }

    private static func shown(_ field: HTTPField) -> String {
        if secret.contains(field.name) { return "(not shown)" }
        guard urls.contains(field.name) else { return field.value }
        return field.value.contains("@") ? "(not shown)" : withoutQueryAndFragment(field.value)
    }

    /// Some servers hand out tokens in a fragment (RFC 6749, section 4.2.2).
    private static func withoutQueryAndFragment(_ url: String) -> String {
        url.firstIndex { $0 == "?" || $0 == "#" }.map { "\(url[...$0])…" } ?? url
    }

    /// A head as it is on the wire, without the line ends.
    static func headLines(_ response: HTTPResponse, _ version: String) -> [String] {
        ["\(version) \(response.status)"] + response.headerFields.map { "\($0.name.rawName): \($0.value)" }
    }

    /// What happened.
    static func lines(of event: HTTPEvent) -> [String] {
        switch event {
        case .queued, .sent, .head: []
        case .started: ["* Resolving and connecting"]
        case .connected(let connection): ["* \(text(connection))"]
        case .interim(let status): ["< HTTP/1.1 \(status)"]
        case .redirected(let url): ["* Redirected to \(url)"]
        case .retrying(let attempt, let pause, let reason):
            ["* No answer to keep (\(reason)); attempt \(attempt) in \(text(pause))"]
        case .finished(let timings): ["* \(text(timings))"]
        case .failed(let error, let timings): ["* \(error.map { "\($0.code)" } ?? "cancelled"); \(text(timings))"]
        }
    }

    private static func text(_ connection: HTTPConnection) -> String {
        var text = connection.isReused ? "Connected already" : "Connected"
        if !connection.remoteAddress.isEmpty { text += " to \(connection.remoteAddress)" }
        if !connection.localAddress.isEmpty { text += " from \(connection.localAddress)" }
        if connection.isTLSResumed == true { text += ", TLS session resumed" }
        return text
    }

    private static func text(_ timings: HTTPTimings) -> String {
        let parts: [(String, Duration?)] = [
            ("queue", timings.queue), ("name lookup", timings.nameLookup), ("connect", timings.connect),
            ("TLS", timings.tls), ("first byte", timings.firstByte), ("body", timings.body), ("total", timings.total),
        ]
        let times = parts.compactMap { name, time in time.map { "\(name) \(text($0))" } }
        let sent = timings.sentBytes > 0 ? "sent \(ByteCount(Int(timings.sentBytes))), " : ""
        return times.joined(separator: ", ") + "; \(sent)received \(ByteCount(Int(timings.receivedBytes)))"
    }

    /// A time as a person reads it: `12.3 ms`, `1.50 s`.
    static func text(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        let milliseconds = Double(seconds) * 1e3 + Double(attoseconds) / 1e15
        guard milliseconds < 1000 else { return "\((milliseconds / 10).rounded() / 100) s" }
        return "\((milliseconds * 10).rounded() / 10) ms"
    }
}
