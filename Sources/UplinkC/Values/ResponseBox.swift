// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkHTTP

/// The head of an answer as C programs hold it.
final class ResponseBox: Sendable {
    let head: HTTPResponse
    let url: String
    let contentLength: Int64?
    let strings = CStrings()
    private let fields: [HTTPField]

    init(_ response: HTTPClientResponse) {
        head = response.head
        url = response.url
        contentLength = response.body.contentLength
        fields = Array(response.headerFields)
    }

    var fieldCount: Int { fields.count }

    func name(ofField index: Int) -> String? {
        fields.indices.contains(index) ? fields[index].name.rawName : nil
    }

    /// A field's value as it came: in a `String`, bytes that are not UTF-8 would be repaired.
    func value(ofField index: Int) -> [CChar]? { fields.indices.contains(index) ? Self.value(of: fields[index]) : nil }

    /// The values of all fields of a name, joined with ", ".
    func value(of name: String) -> [CChar]? {
        guard let name = HTTPField.Name(name) else { return nil }
        let values = head.headerFields[fields: name].map(Self.value)
        return values.isEmpty ? nil : Array(values.joined(separator: ", ".utf8CString.dropLast()))
    }

    private static func value(of field: HTTPField) -> [CChar] {
        field.withUnsafeBytesOfValue { $0.map(CChar.init(bitPattern:)) }
    }
}
