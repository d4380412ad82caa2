// SPDX-License-Identifier: Apache-2.0

/// How a program ended.
public struct ProgramResult: Sendable, Hashable {
    /// Its exit status, or as in a shell 128 plus the number of the signal that ended it.
    public let status: CInt
    /// What it wrote to its standard output.
    public let output: String
    /// What it wrote to its standard error.
    public let errors: String
}
