// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import UplinkHTTP

/// The name that a URL gives a file: the last part of its path, percent-decoded (RFC 3986, section 2.1).
///
/// The server has no say in it, because it may be a stranger: redirects and `Content-Disposition` are ignored.
enum RemoteName {
    /// The name.
    ///
    /// - Parameter target: A request's target: path and query.
    /// - Throws: `ValidationError` when it is not the name of a file in the directory where it belongs.
    static func name(ofTarget target: String) throws -> String {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard !last.isEmpty else {
            throw ValidationError("the URL's path ends in no name for a file; name the file with --output")
        }
        guard let bytes = PercentEncoding.decode(last), let name = String(validating: bytes, as: UTF8.self),
            isHarmless(name)
        else {
            throw ValidationError("`\(last)` is not used as the name of a file; name the file with --output")
        }
        return name
    }

    private static func isHarmless(_ name: String) -> Bool {
        // `-` would be the standard output.
        guard !["", ".", "..", "-"].contains(name), name.utf8.count <= 255 else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            // Neither characters that end a line nor those that change its direction: a name must look like what it is.
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: scalar != "/"
            }
        }
    }

    /// A file's name as a URL's last part.
    static func percentEncoded(_ name: String) -> String {
        PercentEncoding.encode(name.utf8) { $0.isAlphanumeric || "-._~".utf8.contains($0) }
    }
}
