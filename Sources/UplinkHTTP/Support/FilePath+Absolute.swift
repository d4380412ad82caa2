// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

extension FilePath {
    /// The path from the root on; as it is where the working directory is gone, and nothing can be found from there.
    package var absolute: FilePath {
        guard isRelative, let directory = getcwd(nil, 0) else { return self }
        defer { free(directory) }
        return FilePath(platformString: directory).pushing(self)
    }
}
