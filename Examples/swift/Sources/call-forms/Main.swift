import Uplink

// Every form in which an operation can be performed, in an async function and on the main actor.

struct SomeType: Sendable {}

@main
struct CallForms {
    static func main() async {
        await fromAnAsyncFunction()
        try? await ViewModel().fromTheMainActor()
    }
}

func load() async throws -> SomeType { SomeType() }
func refresh() async {}

func fromAnAsyncFunction() async {
    let networkOperationClosure: () async -> SomeType = {  // Long-lasting network operation.
        let result = SomeType()
        return result
    }
    let result = await NetworkOperationPerformer().perform(withinSeconds: 3) {
        return await networkOperationClosure()
    }
    print("as a value:", result)

    let performer = NetworkOperationPerformer()
    do {
        let page = try await performer.perform(within: .seconds(3)) { try await load() }
        print("thrown or returned:", page)
        try await performer.performNetworkOperation(using: { await refresh() }, withinSeconds: 3)
        let whole = try await performer.perform(completingWithin: .seconds(3)) { try await load() }
        print("under one deadline:", whole)

        try await performer.perform(within: .zero, requiring: .ipv6.and(.notMetered)) { _ = try await load() }

        let file = try await performer.perform(
            completingWithin: .seconds(600), requiring: .internet.and(.stable(for: .seconds(1))), onLoss: .retry()
        ) { try await load() }
        print("in spite of an outage:", file)

        for try await path in LinuxNetworkMonitor.shared.paths {
            print(path)  // satisfied: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1
            break
        }
    } catch {
        print(error)
    }
}

@MainActor
final class ViewModel {
    private var pages: [SomeType] = []

    func fromTheMainActor() async throws {
        let networkOperationClosure: () async -> SomeType = {  // Long-lasting network operation.
            let result = SomeType()
            return result
        }
        let result = await NetworkOperationPerformer().perform(withinSeconds: 3) {
            return await networkOperationClosure()
        }
        print("as a value:", result)

        let performer = NetworkOperationPerformer()
        // The operation runs on the main actor, so it may touch the model's own state.
        let page = try await performer.perform(within: .seconds(3)) {
            pages.append(try await load())
            return pages.count
        }
        print("thrown or returned:", page)

        try await performer.performNetworkOperation(using: { await refresh() }, withinSeconds: 3)
    }
}
