// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// How much to report on standard error.
struct TellingArguments: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: """
            Tell on the standard error what is sent and received, and how long it takes; a file is then fetched once, \
            and not resumed.
            """)
    var verbose = false

    @Flag(name: .shortAndLong, help: "Tell on the standard error only what goes wrong: no progress, no waiting.")
    var silent = false

    // Options for what this program always does, and curl(1) only on request: many people type `-fsSL` out of habit.

    @Flag(name: .shortAndLong, help: .hidden)
    private var fail = false

    @Flag(name: [.customShort("L"), .long], help: .hidden)
    private var location = false

    @Flag(name: [.customShort("S"), .long], help: .hidden)
    private var showError = false
}
