// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Foundation

/// The demo's HTTP server.
enum PictureServer {
    /// Serves ``DemoPicture`` at `/picture.png` for as long as `body` runs.
    ///
    /// - Parameter body: Gets the port, once the server listens.
    static func withServer(
        address: String, port: UInt16 = 0, scenario: Scenario, _ body: (_ port: UInt16) async throws -> Void
    ) async throws {
        let server = HTTPServer(address: try .inet(ip4: address, port: port), logger: .disabled)
        let answerTime = scenario.answerTime
        await server.appendRoute("GET /picture.png") { _ in
            try await Task.sleep(for: answerTime)
            let headers = HTTPHeaders([.contentType: "image/png"])
            return HTTPResponse(statusCode: .ok, headers: headers, body: Data(DemoPicture.file))
        }
        let running = Task { try await server.run() }
        defer { running.cancel() }
        try await server.waitUntilListening(timeout: 5)
        guard case .ip4(_, let port) = await server.listeningAddress else {
            throw CommandFailure("the demo's server does not listen")
        }
        try await body(port)
    }
}
