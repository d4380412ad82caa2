// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// Header fields from C.
enum Fields {
    /// The most fields; more are garbage, or a list without an end.
    static let maximum = 256

    /// Reads a list of lines "Name: value" that ends with NULL.
    static func read(_ list: UnsafePointer<UnsafePointer<CChar>?>?) throws(StatusError) -> HTTPFields {
        var fields = HTTPFields()
        guard var next = list else { return fields }
        while let line = next.pointee {
            guard fields.count < maximum else { throw StatusError(Status.invalid) }
            let text = try Text.read(line).unicodeScalars  // what follows may combine with a colon or blank
            guard let colon = text.firstIndex(of: ":") else { throw StatusError(Status.request) }
            let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields.append(try field(String(text[..<colon]), String(value)))
            next += 1
        }
        return fields
    }

    static func field(_ name: String, _ value: String) throws(StatusError) -> HTTPField {
        guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { throw StatusError(Status.request) }
        return HTTPField(name: name, value: value)
    }
}
