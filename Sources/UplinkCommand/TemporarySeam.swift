// SPDX-License-Identifier: Apache-2.0
// TEMPORARY: stands in for the performer and the umbrella until they are merged.
import HTTPTypes
import UplinkCore
import UplinkHTTP

struct NetworkOperationError: Error, CustomStringConvertible {
    enum Code { case timedOut, deadlineExceeded, cancelled }
    var code: Code
    var description: String { "no network" }
}
enum PerformFailure<F: Error>: Error { case notStarted(NetworkOperationError), operation(F) }
struct NetworkOperationPerformer: Sendable {
    let monitor: any NetworkMonitor
    func wait(_ d: Duration, _ requirement: NetworkRequirement) async throws {
        try await withThrowingTaskGroup(of: Void.self) { g in
            g.addTask { for try await p in monitor.paths where requirement.isSatisfied(by: p) { return } }
            g.addTask {
                try await Task.sleep(for: d)
                throw NetworkOperationError(code: .timedOut)
            }
            defer { g.cancelAll() }
            try await g.next()
        }
    }
    func perform<T>(withinSeconds: Double, requiring: NetworkRequirement = .internet, operation: () async -> T) async
        -> Result<T, PerformFailure<Never>>
    {
        do { try await wait(.saturating(seconds: withinSeconds), requiring) } catch {
            return .failure(.notStarted(error as? NetworkOperationError ?? .init(code: .cancelled)))
        }
        return .success(await operation())
    }
    func perform<T>(within: Duration, requiring: NetworkRequirement = .internet, operation: () async throws -> T)
        async throws -> T
    {
        try await wait(within, requiring)
        return try await operation()
    }
    func perform<T: Sendable>(
        completingWithin d: Duration, requiring: NetworkRequirement = .internet,
        operation: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        try await wait(d, requiring)
        return try await operation()
    }
}
struct NoTransport: HTTPTransport {
    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        HTTPTransportResponse(head: .init(status: .ok), body: HTTPBody(DemoPicture.file))
    }
}
func withHTTPClient<R>(_ body: (HTTPClient) async throws -> R) async throws -> R {
    try await body(HTTPClient(transport: NoTransport()))
}
extension NetworkPath { var json: String { "{}" } }
