// SPDX-License-Identifier: Apache-2.0
/// A library of a test's own that stands before the C library in a program that the test starts.
package enum Preload {
    /// Builds it from its C source, in a directory that the test removes.
    ///
    /// - Returns: What `LD_PRELOAD` has to be.
    package static func build(_ source: String, in directory: TemporaryDirectory) throws -> String {
        try directory.write("preload.c", Array(source.utf8))
        let library = "\(directory.path)/preload.so"
        let status = try Spawn.run(
            ["cc", "-shared", "-fPIC", "-o", library, "\(directory.path)/preload.c"], in: directory.path)
        guard status == 0 else { throw SetupFailure(activity: "building preload.c", errno: status) }
        return library
    }
}
