// SPDX-License-Identifier: Apache-2.0

/// What active validation found out about one address family: whether something on the internet answers.
///
/// Validation is opt-in, since it sends packets, and it is a field of its own, because a network that blocks the check
/// may still be good for everything else: it never decides whether a path is satisfied.
public enum PathValidation: Sendable, Hashable {
    /// Nobody asked for validation.
    case disabled
    /// The first check of this network is under way.
    case probing
    /// The check was answered as it should be, at this time.
    case validated(at: ContinuousClock.Instant)
    /// Somebody else answered, as a hotel's login page does; its address, where the answer named it.
    case captivePortal(url: String?)
    /// Nothing answered, or not what was expected; the reason in a few words.
    case failed(String)

    /// What a validation is, without its details.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// ``PathValidation/disabled``
        case disabled
        /// ``PathValidation/probing``
        case probing
        /// ``PathValidation/validated(at:)``
        case validated
        /// ``PathValidation/captivePortal(url:)``
        case captivePortal
        /// ``PathValidation/failed(_:)``
        case failed
    }

    /// What the validation is, without its details.
    public var state: State {
        switch self {
        case .disabled: .disabled
        case .probing: .probing
        case .validated: .validated
        case .captivePortal: .captivePortal
        case .failed: .failed
        }
    }

    /// The address of the login page, where one is known.
    public var captivePortalURL: String? {
        switch self {
        case .captivePortal(let url): url
        case .disabled, .probing, .validated, .failed: nil
        }
    }
}
