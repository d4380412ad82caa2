// SPDX-License-Identifier: Apache-2.0
import Uplink

// The code of the guide "Choosing time limits, and cancelling".

private let performer = NetworkOperationPerformer()
private let url = "https://example.org/"

func theWaitAlone() async throws -> [UInt8] {
    try await performer.perform(within: .seconds(3)) {
        try await HTTPClient.shared.get(url).body.collect(upTo: 1 << 20)
    }
}

func waitAndWorkTogether() async throws -> [UInt8] {
    try await performer.perform(completingWithin: .seconds(10)) {
        try await HTTPClient.shared.get(url).body.collect(upTo: 1 << 20)
    }
}

func phases() async throws -> HTTPClientResponse {
    let timeouts = HTTPTimeouts(connect: .seconds(5), firstByte: .seconds(15), stall: .seconds(10), total: .seconds(60))
    return try await HTTPClient.shared.get(url, timeouts: timeouts)
}

func whatIsLeft() async throws -> HTTPClientResponse {
    try await performer.perform(completingWithin: .seconds(10)) {
        let left = OperationDeadline.current?.remaining
        return try await HTTPClient.shared.get(url, timeouts: HTTPTimeouts(total: left))
    }
}

func told() async {
    do {
        print(try await waitAndWorkTogether().count)
    } catch let error as NetworkOperationError where error.code == .timedOut {
        print("the network did not come; nothing was sent:", error)
    } catch let error as NetworkOperationError where error.code == .deadlineExceeded {
        print("it was sent and took too long:", error.underlyingError ?? error)
    } catch let error as HTTPClientError {
        print(error.shortDescription, error.requestDisposition, error)
    } catch is CancellationError {
        print("cancelled")
    } catch {
        print(error)
    }
}

func cancelling() async throws {
    let loading = Task { try await theWaitAlone() }
    loading.cancel()
    switch await loading.result {
    case .success(let bytes): print("it was through before:", bytes.count)
    case .failure(is CancellationError): print("cancelled; no socket, timer or file is left of it")
    case .failure(let error): print(error)
    }
}
