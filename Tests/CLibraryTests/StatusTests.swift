// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkHTTP

@testable import UplinkC

/// The numbers that errors have in C.
@Suite(.timeLimit(.minutes(1)))
struct StatusTests {
    @Test(arguments: [HTTPClientError.Code.unsupportedEncoding, .tooManyEncodings])
    func aBodyInACodingThatNobodyAskedForHasANumber(code: HTTPClientError.Code) {
        let error = HTTPClientError(code, phase: .body, message: "")
        #expect(Status.of(error) == -34)  // UPLINK_EENCODING
    }
}
