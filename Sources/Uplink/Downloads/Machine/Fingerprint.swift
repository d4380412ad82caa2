// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// The digest of a text, used instead of a text that may contain secrets.
package enum Fingerprint {
    package static func of(_ text: String) -> String {
        var checksum = SHA256()
        checksum.update(Array(text.utf8))
        return Hexadecimal.text(checksum.finish())
    }
}
