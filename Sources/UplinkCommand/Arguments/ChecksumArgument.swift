// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

/// A checksum on the command line: `sha256:` and 64 hexadecimal digits.
enum ChecksumArgument {
    static func parse(_ text: String) throws -> DownloadChecksum {
        guard let colon = text.firstIndex(of: ":"), text[..<colon].lowercased() == "sha256" else {
            throw ValidationError("give `sha256:` and the digest in hexadecimal digits; no other algorithm is known")
        }
        do throws(DownloadError) {
            return try .sha256(hexadecimal: String(text[text.index(after: colon)...]))
        } catch {
            throw ValidationError(error.message)
        }
    }
}
