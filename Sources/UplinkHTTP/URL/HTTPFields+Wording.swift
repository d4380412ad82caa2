// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

extension HTTPFields {
    /// What has to be asked for in order to get the same again: a URL, and those of these fields by which a server
    /// selects one of a resource's representations (RFC 9110, section 12.5). One line without such fields.
    package func wording(for url: String) -> String {
        let selecting = filter { $0.name.canonicalName.hasPrefix("accept") }
        return ([url] + selecting.map { "\($0.name.canonicalName): \($0.value)" }).joined(separator: "\n")
    }
}
