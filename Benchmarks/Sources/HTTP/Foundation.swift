// SPDX-License-Identifier: Apache-2.0
import Foundation
import FoundationNetworking
import Glibc
import Harness

extension Work {
    /// The most requests that URLSession is asked for; its cost for each does not fall with their number.
    static var mostOfURLSession: Int { 2000 }

    func urlSession(_ run: Run) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = max(6, concurrency)
        configuration.timeoutIntervalForRequest = 600
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        let counter = Counter()
        let session = URLSession(configuration: configuration, delegate: counter, delegateQueue: nil)
        guard let url = URL(string: url), let warmUpURL = URL(string: warmUpURL) else { throw WrongResult() }
        let file = file
        let ask: Ask =
            switch sink {
            case .count: { try await counter.count(session.dataTask(with: url)) }
            case .memory: { try await session.data(from: url).0.count }
            case .file:
                {
                    let (downloaded, _) = try await session.download(from: url)
                    guard rename(downloaded.path, file) == 0 else { throw WrongResult() }
                    let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
                    return size ?? 0
                }
            }
        try await measure(
            run, atMost: Self.mostOfURLSession, warmUp: { try await session.data(from: warmUpURL).0.count }, ask)
        session.invalidateAndCancel()
    }
}

/// Counts the bytes of one task.
private final class Counter: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // of the delegate's queue
    private var bytes = 0
    private var waiter: CheckedContinuation<Int, any Error>?

    func count(_ task: URLSessionDataTask) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            waiter = continuation
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { bytes += data.count }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        waiter?.resume(with: error.map { .failure($0) } ?? .success(bytes))
        waiter = nil
    }
}
