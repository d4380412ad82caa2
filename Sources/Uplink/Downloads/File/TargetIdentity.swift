// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// An identity by which two paths to one target are equal: the directory itself, and the name in it. Blocks.
struct TargetIdentity: Hashable {
    private let device: UInt64
    private let directory: UInt64
    private let name: [CChar]

    /// Creates the identity; nil if there is no such directory, which the download itself will report.
    init?(_ path: FilePath) {
        guard let names = PartialNames(path) else { return nil }
        var status = stat()
        let isThere = names.directory.withPlatformString { stat($0, &status) } == 0
        guard isThere else { return nil }
        (device, directory, name) = (UInt64(status.st_dev), UInt64(status.st_ino), names.target)
    }

    /// The targets that an earlier one has, each with the earlier one.
    static func repeated(in targets: [FilePath]) -> [Int: Int] {
        var first: [Self: Int] = [:]
        var repeated: [Int: Int] = [:]
        for (number, target) in targets.enumerated() {
            guard let identity = Self(target) else { continue }
            if let earlier = first[identity] { repeated[number] = earlier } else { first[identity] = number }
        }
        return repeated
    }
}
