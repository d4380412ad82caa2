// SPDX-License-Identifier: Apache-2.0
import CUplink
import HTTPTypes
import SystemPackage
import UplinkCore

/// A request as C programs hold it.
final class RequestBox: Sendable {
    /// What is sent, as of one moment.
    struct Content: Sendable {
        var head: HTTPRequest
        var body = Body.none
    }

    /// What a request carries.
    enum Body: Sendable {
        /// Nothing.
        case none
        /// A copy of the program's bytes.
        case bytes([UInt8])
        /// A file, which is read when it is sent.
        case file(FilePath)
        /// Bytes that the program gives when it is asked.
        case source(Source)
    }

    /// The callback that gives a body.
    struct Source: Sendable {
        /// The length; nil if it is not known.
        let length: Int64?
        let canRewind: Bool
        let read: uplink_read_cb
        let user: UserPointer
    }

    private let state: Locked<Content>

    init(_ head: HTTPRequest) { state = Locked(Content(head: head)) }

    var content: Content { state.withLock { $0 } }

    func set(_ body: Body) { state.withLock { $0.body = body } }

    /// Adds a field; false when there are too many.
    func add(_ field: HTTPField) -> Bool {
        state.withLock { state in
            guard state.head.headerFields.count < Fields.maximum else { return false }
            state.head.headerFields.append(field)
            return true
        }
    }
}
