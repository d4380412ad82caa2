// SPDX-License-Identifier: Apache-2.0
#if Store
/// The result of cancelling an entry, or several.
public enum OutboxCancellation: Sendable, Hashable {
    /// It is gone, or all of them are; none was being sent, but an earlier attempt may have reached the server.
    case cancelled
    /// It, or one of them, is being sent at this moment; all stay.
    case beingSent
    /// There is no such entry: it, or one of them, was sent or cancelled before; the others stay.
    case notFound
}
#endif
