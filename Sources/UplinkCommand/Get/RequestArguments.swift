// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import HTTPTypes
import SystemPackage
import UplinkHTTP

/// What is asked of the server, in curl(1)'s words.
struct RequestArguments: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: .init("The method; by itself GET, or what the options below imply.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")], parsing: .unconditionalSingleValue,
        help: .init("A field to send, `Name: value`; may be repeated.", valueName: "field"))
    var headers: [String] = []

    @Option(
        name: .shortAndLong, parsing: .unconditionalSingleValue,
        help: .init(
            "Send this form-encoded (POST); `@file` sends a file as it is; what is repeated is joined by `&`.",
            valueName: "data"))
    var data: [String] = []

    @Option(
        parsing: .unconditional,
        help: .init("Send this JSON (POST), or that of `@file`, and ask for JSON.", valueName: "json"))
    var json: String?

    @Option(
        name: [.customShort("F"), .customLong("form")], parsing: .unconditionalSingleValue,
        help: .init("Send a form (POST): `name=text` or `name=@file`; may be repeated.", valueName: "part"))
    var form: [String] = []

    @Option(
        name: [.customShort("T"), .customLong("upload"), .customLong("upload-file")],
        help: .init("Send a file (PUT); `-` sends the standard input.", valueName: "file"))
    var upload: String?

    @Flag(name: [.customShort("I"), .long], help: "Ask for the head of the answer alone (HEAD), and print it.")
    var head = false

    @Flag(name: .shortAndLong, help: "Print the head of the answer before its body.")
    var include = false

    @Option(
        name: .shortAndLong, parsing: .unconditional,
        help: .init("Log in by Basic authentication.", valueName: "user:password"))
    var user: String?

    func validate() throws {
        let bodies = [!data.isEmpty, json != nil, !form.isEmpty, upload != nil, head]
        guard bodies.count(where: { $0 }) <= 1 else {
            throw ValidationError("--data, --json, --form, --upload and --head exclude each other")
        }
        guard data.count <= 1 || !data.contains(where: { $0.hasPrefix("@") }) else {
            throw ValidationError("`--data @file` cannot be joined with other data; give it alone")
        }
        _ = try credentials()
        for part in form where part.firstIndex(of: "=") == nil {
            throw ValidationError("`\(part)` is no part of a form; give `name=text` or `name=@file`")
        }
        guard method.map({ HTTPRequest.Method($0) != nil }) ?? true else {
            throw ValidationError("`\(method ?? "")` is no method; give a word such as PUT")
        }
        let hasBody = bodies.dropLast().contains(true)
        do {
            try RequestCheck.check(effectiveMethod, fields(), hasBody ? .bytes([]) : .none)
        } catch let error as HTTPClientError {
            throw ValidationError(error.message)
        }
    }

    /// The request to a URL, without its body.
    func request(to url: String) throws -> HTTPRequest {
        var fields = try fields()
        if json != nil, fields[.accept] == nil { fields[.accept] = "application/json" }
        return try HTTPRequest(parsing: url, method: effectiveMethod, headerFields: fields)
    }

    /// Whether all that is wanted is the body of a GET, whole: what can be gone on with after a loss.
    var isPlainGet: Bool {
        let conditions: Set<HTTPField.Name> = [
            .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
        ]
        let names = (try? fields())?.map(\.name) ?? []
        return effectiveMethod == .get && data.isEmpty && json == nil && form.isEmpty && upload == nil && !include
            && !names.contains(where: conditions.contains)
    }

    /// The body to send.
    ///
    /// - Throws: ``CommandFailure`` when a file cannot be read.
    func body() throws -> HTTPRequestBody {
        if let json { return try Self.content(json, contentType: "application/json") }
        if let upload { return upload == "-" ? .stream(StandardInput.bytes) : .file(FilePath(upload)) }
        if !form.isEmpty { return .multipart(form.map(Self.part)) }
        guard !data.isEmpty else { return .none }
        let encoded = "application/x-www-form-urlencoded"
        if data.count == 1 { return try Self.content(data[0], contentType: encoded) }
        return .bytes(Array(data.joined(separator: "&").utf8), contentType: encoded)
    }

    /// User and password.
    func credentials() throws -> (user: String, password: String)? {
        guard let user else { return nil }
        guard let colon = user.firstIndex(of: ":") else {
            throw ValidationError("--user needs `user:password`; the password may be empty")
        }
        return (String(user[..<colon]), String(user[user.index(after: colon)...]))
    }

    private var effectiveMethod: HTTPRequest.Method {
        if let method, let parsed = HTTPRequest.Method(method) { return parsed }
        if head { return .head }
        if upload != nil { return .put }
        return data.isEmpty && json == nil && form.isEmpty ? .get : .post
    }

    private func fields() throws -> HTTPFields {
        try HTTPFields(
            checking: headers.map { header in
                guard let colon = header.firstIndex(of: ":") else {
                    throw ValidationError("a --header is no field; give `Name: value`")  // it may hold a secret
                }
                return (String(header[..<colon]), String(header[header.index(after: colon)...]))
            })
    }

    private static func content(_ text: String, contentType: String) throws -> HTTPRequestBody {
        guard text.hasPrefix("@") else { return .bytes(Array(text.utf8), contentType: contentType) }
        return .file(FilePath(String(text.dropFirst())), contentType: contentType)
    }

    private static func part(_ text: String) -> HTTPFormPart {
        let pieces = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, value) = (String(pieces[0]), String(pieces[1]))
        return value.hasPrefix("@") ? .file(name, FilePath(String(value.dropFirst()))) : .field(name, value)
    }
}
