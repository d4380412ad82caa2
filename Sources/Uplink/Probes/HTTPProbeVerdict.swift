// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore
import UplinkHTTP

/// What an answer to a probe means: the server itself, a captive portal, or a failure. Pure.
struct HTTPProbeVerdict {
    /// What the right server says.
    enum Expectation: Equatable {
        /// 204; a 200 without a body counts too, because some proxies turn the one into the other.
        case noContent
        /// 200 with exactly this body.
        case body([UInt8])
    }

    private static let networkManagerStatus = HTTPField.Name("X-NetworkManager-Status")

    private let expectation: Expectation
    private let url: HTTPURL

    init(expecting expectation: Expectation, at url: HTTPURL) { (self.expectation, self.url) = (expectation, url) }

    /// The most bytes worth reading: more than the right body has are wrong whatever they are.
    var longestBody: Int {
        switch expectation {
        case .noContent: 0
        case .body(let bytes): bytes.count
        }
    }

    /// What the head alone says; nil if the body decides.
    func ofHead(_ head: HTTPResponse) -> PathValidation? {
        switch head.status.code {
        case 204 where expectation == .noContent: .validated(at: .now)
        case 200 where Self.networkManagerStatus.map { head.headerFields[$0] } == "online": .validated(at: .now)
        case 200: nil
        case 201..<300, 511: .captivePortal(url: nil)  // 511: Network Authentication Required (RFC 6585)
        case 300..<400: .captivePortal(url: head.headerFields[.location].flatMap { url.resolving($0)?.text })
        default: .failed("the server answered with status \(head.status.code)")
        }
    }

    /// What the body of a 200 says.
    func ofBody(_ body: [UInt8]) -> PathValidation {
        let isRight =
            switch expectation {
            case .noContent: body.isEmpty
            case .body(let expected): body == expected
            }
        return isRight ? .validated(at: .now) : .captivePortal(url: nil)
    }
}
