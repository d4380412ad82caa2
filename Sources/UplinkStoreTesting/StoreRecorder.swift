// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore
public import UplinkStore

/// Reads a stream of the store as fast as it can, and keeps its elements.
public final class StoreRecorder<Value: Equatable & Sendable>: Sendable {
    private let recorded: Locked<[StoreElement<Value>]>
    private let task: Task<Void, Never>

    /// Subscribes to the stream.
    public init(_ stream: StoreStream<Value>) {
        let recorded = Locked<[StoreElement<Value>]>([])
        self.recorded = recorded
        let iterator = stream.makeAsyncIterator()  // here: what is written from now on comes after
        task = Task {
            var iterator = iterator
            while let element = await iterator.next() { recorded.withLock { $0.append(element) } }
        }
    }

    deinit { task.cancel() }

    /// The elements so far.
    public var elements: [StoreElement<Value>] { recorded.withLock { $0 } }
    /// The values so far.
    public var values: [Value] { elements.compactMap(\.value) }
    /// The errors so far.
    public var errors: [StoreError] { elements.compactMap(\.error) }

    /// The elements so far in a few words, such as `value([1])`, `loading`, `noNews`, `error(fetchFailed)`.
    public var words: [String] {
        elements.map { element in
            switch element {
            case .waiting: "waiting"
            case .loading: "loading"
            case .value(let value, _): "value(\(value))"
            case .noNews: "noNews"
            case .error(let error): "error(\(error.code))"
            }
        }
    }

    /// Ends the subscription, and returns when it has ended.
    public func stop() async {
        task.cancel()
        await task.value
    }
}
#endif
