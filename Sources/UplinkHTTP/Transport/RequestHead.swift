// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// A request's head with a parsed URL: holds what an `HTTPRequest` does, at a third of its cost.
struct RequestHead: Sendable {
    let method: HTTPRequest.Method
    /// The URL. Its fragment is not sent, but redirects inherit it.
    let url: HTTPURL
    let fields: HTTPFields

    init(_ method: HTTPRequest.Method, _ url: HTTPURL, _ fields: HTTPFields) {
        (self.method, self.url, self.fields) = (method, url, fields)
    }

    init(_ request: HTTPRequest) throws(HTTPClientError) {
        self.init(request.method, try request.checkedURL(), request.headerFields)
    }
}
