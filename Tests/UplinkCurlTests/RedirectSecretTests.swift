// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// Secrets on the wire: libcurl's handles keep the fields of their last transfer, and serve both ends of a redirect.
@Suite(.timeLimit(.minutes(1)))
struct RedirectSecretTests {
    private static let key = HTTPField.Name("X-Api-Key")!
    private static let token = HTTPField.Name("X-Token")!
    private static let fields: HTTPFields = [
        .authorization: "Bearer secret", .cookie: "a=secret", key: "secret", token: "secret", .accept: "text/plain",
    ]
    private static let sent = [
        "Authorization: Bearer secret", "Cookie: a=secret", "X-Api-Key: secret", "X-Token: secret",
        "Accept: text/plain",
    ]
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func ask(_ url: String, _ method: HTTPRequest.Method, _ client: HTTPClient) async throws {
        let request = try HTTPRequest(parsing: url, method: method, headerFields: Self.fields)
        let body: HTTPRequestBody = method == .put ? .text("hello") : .none
        let options = HTTPRequestOptions(sensitiveFields: [Self.token])
        let response = try await client.execute(request, body: body, options: options)
        #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
    }

    /// One after the other on the same handle, and several at once; with a body, whose fields are not kept.
    @Test(arguments: [HTTPRequest.Method.get, .put], [1, 4])
    func secretsStayWithTheFirstServerAgainAndAgain(_ method: HTTPRequest.Method, _ tasks: Int) async throws {
        let rounds = 8
        var configuration = HTTPClient.Configuration()
        configuration.sensitiveFields = [Self.key]
        try await withServer([.readHead, .readBody(), .send(Self.answer), .loop]) { second in
            let location = second.url("/there")
            let redirect = "HTTP/1.1 307 Elsewhere\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
            try await withServer([.readHead, .readBody(), .send(redirect), .loop]) { first in
                try await withClient(configuration) { client, _ in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<tasks {
                            group.addTask { for _ in 0..<rounds { try await ask(first.url(), method, client) } }
                        }
                        try await group.waitForAll()
                    }
                    // And a handle that had them last sends none of them with another request.
                    #expect(try await client.get(second.url("/plain")).status == .ok)
                }
                #expect(first.heads.count == tasks * rounds)
                for head in first.heads {
                    for field in Self.sent { #expect(head.contains("\r\n\(field)\r\n"), "\(head)") }
                }
                if method == .put {
                    let hello = BodyRecord(of: Array("hello".utf8))
                    #expect(first.bodies.allSatisfy { $0 == hello })
                    #expect(second.bodies.filter { $0 == hello }.count == tasks * rounds)
                }
            }
            #expect(second.heads.count == tasks * rounds + 1)
            for head in second.heads {
                let lower = head.lowercased()
                #expect(!lower.contains("secret"), "\(head)")
                for name in ["authorization:", "cookie:", "x-api-key:", "x-token:"] {
                    #expect(!lower.contains("\r\n\(name)"), "\(head)")
                }
                #expect(head.contains("\r\nAccept: text/plain\r\n") == !head.hasPrefix("GET /plain "), "\(head)")
            }
        }
    }

    /// What goes to the second server directly goes there, though what was led there had none of it.
    @Test func whatIsMeantForTheSecondServerIsSentThere() async throws {
        try await withServer([.readHead, .send(Self.answer), .loop]) { second in
            let redirect = "HTTP/1.1 302 Found\r\nLocation: \(second.url("/led"))\r\nContent-Length: 0\r\n\r\n"
            try await withServer([.readHead, .send(redirect), .loop]) { first in
                try await withClient { client, _ in
                    for _ in 0..<4 {
                        try await ask(second.url("/meant"), .get, client)
                        try await ask(first.url(), .get, client)
                    }
                }
            }
            #expect(second.heads.count == 8)
            for head in second.heads {
                let isMeant = head.hasPrefix("GET /meant ")
                for field in ["Authorization: Bearer secret", "Cookie: a=secret", "X-Token: secret"] {
                    #expect(head.contains("\r\n\(field)\r\n") == isMeant, "\(head)")
                }
            }
        }
    }
}
