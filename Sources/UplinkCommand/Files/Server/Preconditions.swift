// SPDX-License-Identifier: Apache-2.0
import FlyingFox

/// The conditions under which a client wants its request to be carried out (RFC 9110, section 13.1): those by tags; those
/// by dates do not apply, because no date is sent with a content.
struct Preconditions: Sendable {
    /// The tags of `If-Match`, one of which the content has to have.
    private let wanted: [Substring]?
    /// The tags of `If-None-Match`, none of which it may have.
    private let unwanted: [Substring]?

    init(of request: HTTPRequest) {
        func tags(_ field: String) -> [Substring]? {
            request.headers[HTTPHeader(field)].map { value in
                value.split(separator: ",").map { $0.trimmingPrefix { " \t".contains($0) } }.map { tag in
                    tag.lastIndex { !" \t".contains($0) }.map { tag[...$0] } ?? ""
                }
            }
        }
        (wanted, unwanted) = (tags("If-Match"), tags("If-None-Match"))
    }

    /// Whether the client lacks this content, as far as it says which ones it has.
    ///
    /// - Parameter tag: The tag of what is there; nil for a folder, which has none.
    /// - Throws: ``ServiceError/preconditionFailed`` when it is none of those that the client wants.
    func isNew(_ tag: String?) throws(ServiceError) -> Bool {
        if let wanted, !wanted.contains(where: { $0 == "*" || $0 == tag ?? "" }) {
            throw .preconditionFailed
        }
        // Weak tags are compared without their mark (section 8.8.3.2).
        return !(unwanted ?? []).contains { $0 == "*" || $0.trimmingPrefix("W/") == tag ?? "" }
    }
}
