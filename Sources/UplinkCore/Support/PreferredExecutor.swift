// SPDX-License-Identifier: Apache-2.0

/// The executor that the current task prefers, for a task that is to work where its maker does; nil for the default.
package var preferredExecutor: (any TaskExecutor)? {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
}
