import Uplink

@main
struct FirstProgram {
    static func main() async {
        let result = await NetworkOperationPerformer().perform(withinSeconds: 3) {
            try await withHTTPClient { client in
                try await client.get("https://example.org/").body.collect(upTo: 1 << 20)
            }
        }
        switch result {
        case .success(let page): print("\(page.count) bytes")
        case .failure(.notStarted(let error)): print("never started: \(error)")
        case .failure(.operation(let error)): print("failed: \(error)")
        }
    }
}
