// SPDX-License-Identifier: Apache-2.0

/// The result of active validation for one address family: whether something on the internet answers.
///
/// Validation is opt-in, since it sends packets. It is a separate field and never decides whether a path is satisfied,
/// because a network that blocks the check may still be good for everything else.
public enum PathValidation: Sendable, Hashable {
    /// Nobody asked for validation.
    case disabled
    /// The first check of this network is under way.
    case probing
    /// The check got the expected answer, last at this time. A later such answer is not published by itself.
    indirect case validated(at: ContinuousClock.Instant)
    /// Somebody else answered, such as a hotel's login page, whose address is given if the answer named it.
    case captivePortal(url: String?)
    /// Nothing answered, or the answer was not the expected one; the reason in a few words.
    case failed(String)

    /// The kind of a validation, without its details.
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

    /// The kind of the validation, without its details.
    public var state: State {
        switch self {
        case .disabled: .disabled
        case .probing: .probing
        case .validated: .validated
        case .captivePortal: .captivePortal
        case .failed: .failed
        }
    }

    /// The address of the login page, if one is known.
    public var captivePortalURL: String? {
        switch self {
        case .captivePortal(let url): url
        case .disabled, .probing, .validated, .failed: nil
        }
    }
}
