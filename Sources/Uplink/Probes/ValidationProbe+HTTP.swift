// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
public import UplinkCore
public import UplinkCurl
public import UplinkEventLoop
import UplinkHTTP

extension ValidationProbe {
    /// A probe of a URL that answers `204 No Content`, as the servers for this purpose do
    /// (`http://connectivitycheck.gstatic.com/generate_204`).
    ///
    /// An empty `200 OK` counts as well, because some proxies turn the one into the other, and so does one with
    /// `X-NetworkManager-Status: online`. Any other success and any redirect is a captive portal, whose address
    /// `Location` gives; no answer, or an error of the server, is a failure. Use `http`: a portal cannot answer in
    /// place of an `https` server, so its interference would look like a failure.
    ///
    /// - Parameters:
    ///   - url: The URL to ask for over each family; its host must have addresses of both.
    ///   - loop: The loop to connect on; the network namespace of its thread should be the monitor's.
    ///   - transport: How to connect. The probe sets the family.
    public static func http204(
        _ url: String, on loop: EventLoop = .shared, transport: CurlTransport.Configuration = .init()
    ) -> Self {
        http(url, .noContent, loop, transport)
    }

    /// A probe of a URL that answers `200 OK` with exactly this body, such as `NetworkManager is online\n` at
    /// `http://nmcheck.gnome.org/check_network_status.txt`.
    ///
    /// The field `X-NetworkManager-Status: online` counts as well. Any other success and any redirect is a captive
    /// portal. No more of a body is read than the right one can have.
    public static func expecting(
        body: String, at url: String, on loop: EventLoop = .shared, transport: CurlTransport.Configuration = .init()
    ) -> Self {
        http(url, .body(Array(body.utf8)), loop, transport)
    }

    private static func http(
        _ url: String, _ expectation: HTTPProbeVerdict.Expectation, _ loop: EventLoop,
        _ transport: CurlTransport.Configuration
    ) -> Self {
        Self { family, _ in
            var transport = transport
            transport.addressFamily = family
            transport.maximumIdleConnections = 1
            // A new connection each time: one that is kept may outlive the network.
            do {
                return try await withHTTPClient(on: loop, configuration: .forProbes, transport: transport) { client in
                    try await HTTPProbe(client: client, url: url, expectation: expectation).run()
                }
            } catch {
                return .failed("\(error)")
            }
        }
    }
}

extension HTTPClient.Configuration {
    /// The redirect itself is the answer.
    fileprivate static var forProbes: Self {
        var configuration = Self()
        configuration.maximumRedirects = 0
        configuration.limits.headerBytes = 16 * 1024
        return configuration
    }
}

/// One exchange with the server, and what it means.
private struct HTTPProbe {
    let client: HTTPClient
    let url: String
    let expectation: HTTPProbeVerdict.Expectation

    func run() async throws -> PathValidation {
        let request = try HTTPRequest(
            parsing: url, headerFields: [.cacheControl: "no-cache"])
        let verdict = HTTPProbeVerdict(expecting: expectation, at: try request.checkedURL())
        do {
            let response = try await client.execute(request)
            if let found = verdict.ofHead(response.head) { return found }
            return verdict.ofBody(try await response.body.collect(upTo: verdict.longestBody))
        } catch let error as HTTPClientError where error.code == .bodyTooLarge || error.code == .unsupportedEncoding {
            return .captivePortal(url: nil)  // an answer, but not the right one
        }
    }
}
