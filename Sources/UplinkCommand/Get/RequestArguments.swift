// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import HTTPTypes
import SystemPackage
import UplinkEventLoop
import UplinkHTTP

/// What to ask of the server, with curl(1)'s options.
struct RequestArguments: ParsableArguments {
    @Option(
        name: [.customShort("X", allowingJoined: true), .customLong("request")],
        help: .init("The method; by itself GET, or what the options below imply.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("H", allowingJoined: true), .customLong("header")], parsing: .unconditionalSingleValue,
        help: .init("A field to send, `Name: value`; may be repeated.", valueName: "field"))
    var headers: [String] = []

    @Option(
        name: [.customShort("d", allowingJoined: true), .long], parsing: .unconditionalSingleValue,
        help: .init(
            "Send this form-encoded (POST); `@file` sends a file as it is, and `@-` the standard input; what is repeated "
                + "is joined by `&`.", valueName: "data"))
    var data: [String] = []

    @Option(
        parsing: .unconditional,
        help: .init("Send this JSON (POST), or that of `@file` or `@-`, and ask for JSON.", valueName: "json"))
    var json: String?

    @Option(
        name: [.customShort("F"), .customLong("form")], parsing: .unconditionalSingleValue,
        help: .init("Send a form (POST): `name=text`, `name=@file` or `name=@-`; may be repeated.", valueName: "part"))
    var form: [String] = []

    @Option(
        name: [.customShort("T", allowingJoined: true), .customLong("upload"), .customLong("upload-file")],
        help: .init(
            "Send a file (PUT); `-` sends the standard input. Its name is added to a path that ends in `/`, or is empty.",
            valueName: "file"))
    var uploads: [String] = []

    @Flag(name: [.customShort("I"), .long], help: "Ask for the head of the answer alone (HEAD), and write it.")
    var head = false

    @Flag(name: .shortAndLong, help: "Write the head of the answer before its body, also into a file.")
    var include = false

    @Option(
        name: [.customShort("u", allowingJoined: true), .long], parsing: .unconditional,
        help: .init(
            "Log in by Basic authentication; a password that is left out is asked for. (One that is given is soon hidden "
                + "from the list of processes, but not from the shell's history.)", valueName: "user:password"))
    var user: String?

    var upload: String? { uploads.first }

    func validate() throws {
        let bodies = [!data.isEmpty, json != nil, !form.isEmpty, upload != nil, head]
        guard bodies.count(where: { $0 }) <= 1 else {
            throw ValidationError("--data, --json, --form, --upload and --head exclude each other")
        }
        guard data.count <= 1 || !data.contains(where: { $0.hasPrefix("@") }) else {
            throw ValidationError("`--data @file` cannot be joined with other data; give it alone")
        }
        guard form.count(where: { $0.split(separator: "=", maxSplits: 1).last == "@-" }) <= 1 else {
            throw ValidationError("the standard input can be read once; give `@-` to one part of the form")
        }
        if let user, user.isEmpty || user.hasPrefix(":") { throw ValidationError("--user needs a name") }
        guard uploads.count <= 1 else { throw ValidationError("--upload sends one file; give it once") }
        for part in form where part.firstIndex(of: "=") == nil {
            throw ValidationError("`\(part)` is no part of a form; give `name=text` or `name=@file`")
        }
        guard method.map({ HTTPRequest.Method($0) != nil }) ?? true else {
            throw ValidationError("`\(method ?? "")` is no method; give a word such as PUT")
        }
        let hasBody = bodies.dropLast().contains(true)
        do {
            let named = try HTTPFields(checking: givenFields().map { ($0.name, $0.value ?? "") })
            try RequestCheck.check(effectiveMethod, named, hasBody ? .bytes([]) : .none)
        } catch let error as HTTPClientError {
            throw ValidationError(error.message)
        }
    }

    /// The request to a URL, without its body.
    func request(to url: String) throws -> HTTPRequest {
        var fields = try fields()
        if fields[.accept] == nil {
            // Empty, it is not sent; without it the transport would send its own.
            fields[.accept] = try isRemoved(.accept) ? "" : json.map { _ in "application/json" }
        }
        return try HTTPRequest(parsing: target(of: url), method: effectiveMethod, headerFields: fields)
    }

    /// The URL, with the name of the file to send appended to its path if that ends in a directory, or is empty.
    private func target(of url: String) -> String {
        guard let upload, upload != "-", let file = FilePath(upload).lastComponent else { return url }
        let (name, base) = (RemoteName.percentEncoded(file.string), url.prefix { $0 != "?" && $0 != "#" })
        let rest = url[base.endIndex...]
        if base.hasSuffix("/") { return base + name + rest }
        return base.split(separator: "/").count == 2 ? base + "/" + name + rest : url  // scheme and host alone
    }

    /// Whether only the whole body of a GET is wanted, which can be resumed after a loss.
    var isPlainGet: Bool {
        let conditions: Set<HTTPField.Name> = [
            .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
        ]
        let names = (try? fields())?.map(\.name) ?? []
        return effectiveMethod == .get && data.isEmpty && json == nil && form.isEmpty && upload == nil && !include
            && !head
            && !names.contains(where: conditions.contains)
    }

    /// Whether the answer has no body, and its head is not wanted either.
    var bringsNothing: Bool { effectiveMethod == .head && !head && !include }

    /// The body to send.
    ///
    /// - Throws: ``CommandFailure`` when a file cannot be read.
    func body() throws -> HTTPRequestBody {
        var body = try givenBody()
        if try isRemoved(.contentType) { body.contentType = nil }
        return body
    }

    private func givenBody() throws -> HTTPRequestBody {
        if let json { return try Self.content(json, contentType: "application/json") }
        if let upload { return try upload == "-" ? .stream(StandardInput.bytes) : .file(Self.file(upload, "-")) }
        if !form.isEmpty { return try .multipart(form.map(Self.part)) }
        guard !data.isEmpty else { return .none }
        let encoded = "application/x-www-form-urlencoded"
        if data.count == 1 { return try Self.content(data[0], contentType: encoded) }
        return .bytes(Array(data.joined(separator: "&").utf8), contentType: encoded)
    }

    /// User and password; asks for the password on the terminal if it is not given.
    ///
    /// - Throws: ``CommandFailure`` without a terminal.
    func credentials() async throws -> (user: String, password: String)? {
        guard let user else { return nil }
        guard let colon = user.firstIndex(of: ":") else {
            let password = try await EventLoop.shared.offLoop {
                try PasswordPrompt.ask("Password for \(user): ", otherwise: "give `--user user:password`")
            }
            return (user, password)
        }
        return (String(user[..<colon]), String(user[user.index(after: colon)...]))
    }

    private var effectiveMethod: HTTPRequest.Method {
        if let method, let parsed = HTTPRequest.Method(method) { return parsed }
        if head { return .head }
        if upload != nil { return .put }
        return data.isEmpty && json == nil && form.isEmpty ? .get : .post
    }

    /// Whether a field of the client's is not to be sent (`Accept:`).
    func isRemoved(_ name: HTTPField.Name) throws -> Bool {
        try givenFields().contains { $0.value == nil && HTTPField.Name($0.name) == name }
    }

    private func fields() throws -> HTTPFields {
        try HTTPFields(checking: givenFields().compactMap { name, value in value.map { (name, $0) } })
    }

    /// Names and values as curl(1) reads them: without a value (`A:`) a field is not sent, and `A;` is sent empty.
    private func givenFields() throws -> [(name: String, value: String?)] {
        try headers.map { header in
            if let colon = header.firstIndex(of: ":") {
                let value = header[header.index(after: colon)...]
                return (String(header[..<colon]), value.allSatisfy { $0 == " " || $0 == "\t" } ? nil : String(value))
            }
            guard header.hasSuffix(";") else {
                throw ValidationError("a --header is no field; give `Name: value`")  // it may hold a secret
            }
            return (String(header.dropLast()), "")
        }
    }

    private static func content(_ text: String, contentType: String) throws -> HTTPRequestBody {
        guard text.hasPrefix("@") else { return .bytes(Array(text.utf8), contentType: contentType) }
        guard text != "@-" else { return input(contentType: contentType) }
        return .file(try file(String(text.dropFirst()), "@-"), contentType: contentType)
    }

    private static func part(_ text: String) throws -> HTTPFormPart {
        let pieces = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, value) = (String(pieces[0]), String(pieces[1]))
        guard value.hasPrefix("@") else { return .field(name, value) }
        guard value != "@-" else {
            // As in curl(1).
            return HTTPFormPart(name: name, filename: "-", body: input(contentType: "application/octet-stream"))
        }
        return .file(name, try file(String(value.dropFirst()), "\(name)=@-"))
    }

    /// The standard input, sent as it comes.
    private static func input(contentType: String) -> HTTPRequestBody {
        var body = HTTPRequestBody.stream(StandardInput.bytes)
        body.contentType = contentType
        return body
    }

    /// A file to send. Whether it exists and can be read shows when it is sent.
    ///
    /// - Parameter inPlace: What to give instead for the standard input.
    /// - Throws: ``CommandFailure`` for a file without a length: a pipe or a device.
    private static func file(_ path: String, _ inPlace: String) throws(CommandFailure) -> FilePath {
        var status = stat()
        guard stat(path, &status) == 0 else { return FilePath(path) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return FilePath(path)
        case S_IFDIR: throw CommandFailure("`\(path)` is a directory; give the name of a file in it")
        default:
            // A descriptor's path means another file to the shell than it does here.
            let isDescriptor =
                path == "/dev/stdin" || path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/") && path.contains("/fd/")
            let remedy =
                isDescriptor
                ? "pipe it in, and give `\(inPlace)`" : "give `\(inPlace)`, and `<\(path)` behind the command"
            throw CommandFailure("`\(path)` is a pipe or a device, and no file; \(remedy)")
        }
    }
}
