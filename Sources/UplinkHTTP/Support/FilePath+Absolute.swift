// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

extension FilePath {
    /// The path from the root on. If the working directory has been removed, nothing is there, and nothing can be made.
    package var absolute: FilePath {
        guard isRelative else { return self }
        guard let directory = getcwd(nil, 0) else { return FilePath("/proc/self/cwd (deleted)").pushing(self) }
        defer { free(directory) }
        return FilePath(platformString: directory).pushing(self)
    }
}
