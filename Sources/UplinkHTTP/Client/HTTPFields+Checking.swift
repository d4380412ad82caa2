// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// The syntax of field names and values (RFC 9110, sections 5.1 and 5.5).
enum FieldText {
    /// Whether a text is a token, as names and methods are.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// Whether a text contains no control character other than the tab.
    static func isValue(_ text: String) -> Bool { text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 9 } }
}

extension HTTPFields {
    /// Makes fields from untrusted strings, such as those of a command line.
    ///
    /// `HTTPField` itself silently turns line breaks into spaces; here they are errors, so that nobody can smuggle a
    /// field into the value of another. Spaces and tabs around a value are dropped (RFC 9110, section 5.5).
    ///
    /// - Parameter fields: Names and values, in order.
    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/invalidRequest`` for a name that is not a token, and
    ///   for a value with CR, LF, NUL or another control character. The message does not quote the value.
    public init(checking fields: some Sequence<(String, String)>) throws(HTTPClientError) {
        self.init()
        for (name, value) in fields {
            guard FieldText.isToken(name), let field = HTTPField.Name(name) else {
                throw HTTPClientError(
                    .invalidRequest, phase: .request,
                    message: "`\(Self.printable(name))` is no field name; give letters, digits and `-`, no spaces")
            }
            guard FieldText.isValue(value) else {
                throw HTTPClientError(
                    .invalidRequest, phase: .request,
                    message: "the value of `\(name)` contains a line break or another control character; remove it")
            }
            append(HTTPField(name: field, value: String(Substring(value).trimmingSpaces())))
        }
    }

    /// The beginning of text from elsewhere, for a message, without control characters that a terminal would obey.
    package static func printable(_ text: String, atMost maximum: Int = 64) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(maximum).map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }
}
