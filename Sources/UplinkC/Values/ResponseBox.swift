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

    func field(_ index: Int) -> HTTPField? { fields.indices.contains(index) ? fields[index] : nil }

    func value(of name: String) -> String? { HTTPField.Name(name).flatMap { head.headerFields[$0] } }
}
