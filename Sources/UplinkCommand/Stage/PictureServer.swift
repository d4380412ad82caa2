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
        let answerTime = scenario.answerTime
        var routes = RoutedHTTPHandler()
        routes.appendRoute("GET /picture.png") { _ in
            try await Task.sleep(for: answerTime)
            let headers = HTTPHeaders([.contentType: "image/png"])
            return HTTPResponse(statusCode: .ok, headers: headers, body: Data(DemoPicture.file))
        }
        try await HTTPServer.running(at: .inet(ip4: address, port: port), routes) { address in
            guard case .ip4(_, let port) = address else { throw CommandFailure("the demo's server does not listen") }
            try await body(port)
        }
    }
}
