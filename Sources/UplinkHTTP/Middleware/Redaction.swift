// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// Removes from a message's head what must not appear in a log.
struct Redaction {
    private static let mark = "<redacted>"
    /// Fields that hold a URL, which may have secrets in its query or name a user.
    private static let urlFields = named("Location", "Content-Location", "Referer", "Destination")
    /// Fields that contain URLs among other things. They are not shown either.
    private static let mixedFields = named("Link", "Refresh")

    /// Fields that are not shown.
    let sensitiveFields: Set<HTTPField.Name>
    /// Whether queries are shown.
    let showsQueries: Bool

    func url(of request: HTTPRequest) -> String {
        guard let url = try? request.checkedURL() else { return Self.mark }
        return text(of: url)
    }

    /// - Parameter base: The request that references in the fields are relative to.
    func fields(_ fields: HTTPFields, base: HTTPRequest) -> HTTPFields {
        var redacted = HTTPFields()
        for field in fields {
            var value = field.value
            if sensitiveFields.contains(field.name) || Self.mixedFields.contains(field.name) {
                value = Self.mark
            } else if Self.urlFields.contains(field.name) {
                // Resolving drops user information, so that it does not appear either.
                value = (try? base.checkedURL())?.resolving(value).map(text(of:)) ?? Self.mark
            }
            redacted.append(HTTPField(name: field.name, value: value))
        }
        return redacted
    }

    private static func named(_ names: String...) -> Set<HTTPField.Name> {
        Set(names.compactMap { HTTPField.Name($0) })
    }

    private func text(of url: HTTPURL) -> String { showsQueries ? url.textWithoutFragment : url.redacted }
}
