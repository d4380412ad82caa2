// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkHTTP

@testable import UplinkC

/// What messages advise is there in C.
@Suite(.timeLimit(.minutes(1)))
struct AdviceTests {
    /// What Swift's options are called, or C does not have.
    private static let foreign = [
        "headerFields", "headerBytes", "interimResponses", "maximumSize", "maximumQueuedTransfers", "expectedSize",
        "acceptsUnframedBodies", "`trust`", "`identity`", "isReplayable", "Compression", "sequence", "whenUnavailable",
        "the maximum", "backOff", "paths",
    ]

    @Test(arguments: [
        ("the answer has more than 256 fields; raise `headerFields`", "256 fields; this library takes no more"),
        ("1 transfers wait already; send fewer at once, or raise `maximumQueuedTransfers`", "; send fewer at once"),
        ("than the 5 allowed; raise `maximumSize`", "raise `maximum_size`"),
        ("the 4 bytes allowed; raise the maximum, or write it to a file", "raise `limit`, or take it piece by piece"),
        ("cannot be read; check `trust`", "check `ca_file`"),
        ("cannot be decoded (gzip and deflate can, with the package's trait `Compression`); send", "be decoded; send"),
        ("NETLINK; or let the monitor poll (whenUnavailable), which takes no mark, uid or outputInterface", "NETLINK"),
        ("send it to http://a/, or give a body that is replayable", "send it to http://a/, or set `can_rewind` if"),
        ("more than the 1 d allowed; try again later, or raise `backOff.maximumRetryAfter`", "; try again later"),
        ("be watched: it is broken; iterate over `paths` again to start anew", "be watched: it is broken"),
        ("again; make a new one, or say `isReplayable` if its sequence can be iterated again", "set `can_rewind` if"),
        ("`é` exists; choose another name, or ask for it to be replaced", "`é` exists; choose another name, or set"),
    ])
    func adviceIsInTheWordsOfTheHeader(message: String, inC: String) {
        let told = Advice.inC(message)
        #expect(told.contains(inC))
        for word in Self.foreign { #expect(!told.contains(word)) }
    }

    @Test func whatTheLibrarySaysOfALargeBodyIsKnown() async throws {
        let body = HTTPBody([1, 2, 3])
        let error = await #expect(throws: HTTPClientError.self) { try await body.collect(upTo: 2) }
        #expect(Advice.inC(try #require(error).message).contains("raise `limit`"))
    }

    @Test func otherMessagesStayAsTheyAre() { #expect(Advice.inC("no route to host, `é`") == "no route to host, `é`") }
}
