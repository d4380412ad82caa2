// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import UplinkCommand

@Suite(.timeLimit(.minutes(1)))
struct DownloadTargetTests {
    /// `/dev/fd/8`, if the caller has opened no 8, may be a pipe on which this program sends itself messages.
    @Test func theProgramsOwnDescriptorsAreNotWrittenTo() throws {
        let own = open("/dev/null", O_WRONLY | O_CLOEXEC)
        let given = dup(own)
        defer { for descriptor in [own, given] { close(descriptor) } }
        try #require(own >= 0 && given >= 0)
        #expect(throws: CommandFailure.self) { try DownloadTarget("/dev/fd/\(own)", replacingExisting: false) }
        let target = try DownloadTarget("/dev/fd/\(given)", replacingExisting: false)
        guard case .stream(let output) = target else {
            Issue.record("it is no stream")
            return
        }
        close(output.descriptor)
    }
}
