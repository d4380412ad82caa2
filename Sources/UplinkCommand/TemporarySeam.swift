// SPDX-License-Identifier: Apache-2.0
// TEMPORARY: stands in for the umbrella's function until it is merged.
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

func withHTTPClient<Result>(
    _ body: nonisolated(nonsending) (HTTPClient) async throws -> Result
) async throws -> Result {
    let transport = try CurlTransport(on: .shared)
    do {
        let result = try await body(HTTPClient(transport: transport))
        await transport.shutdown()
        return result
    } catch {
        await transport.shutdown()
        throw error
    }
}
