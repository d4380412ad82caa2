// SPDX-License-Identifier: Apache-2.0

/// Why an operation gave no value: it never ran, or it ran and threw.
public enum PerformFailure<OperationFailure: Error>: Error {
    /// The operation never ran.
    case notStarted(NetworkOperationError)
    /// The operation ran, once, and threw this.
    case operation(OperationFailure)
}

extension PerformFailure: CustomStringConvertible {
    /// The error's own description.
    public var description: String {
        switch self {
        case .notStarted(let error): error.description
        case .operation(let error): "\(error)"
        }
    }
}
