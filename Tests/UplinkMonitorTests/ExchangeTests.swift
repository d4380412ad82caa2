// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc
import Testing

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct ExchangeTests {
    @Test func aSingleAnswerEndsTheExchange() {
        let exchange = reading([message(Int(RTM_NEWROUTE), sequence: 7, routePayload())], sequence: 7)
        #expect(exchange.reply == .answered(isConsistent: true))
    }

    @Test func aDumpGoesOnToItsEnd() {
        let part = message(Int(RTM_NEWLINK), sequence: 7, flags: UInt16(NLM_F_MULTI), linkPayload())
        #expect(reading([part], sequence: 7).reply == nil)
        let end = message(Int(NLMSG_DONE), sequence: 7, flags: UInt16(NLM_F_MULTI), [0, 0, 0, 0])
        #expect(reading([part, end], sequence: 7).reply == .answered(isConsistent: true))
    }

    @Test func aDumpThatWasInterruptedIsNotConsistent() {
        let flags = UInt16(NLM_F_MULTI | NLM_F_DUMP_INTR)
        let part = message(Int(RTM_NEWADDR), sequence: 7, flags: flags, addressPayload("192.0.2.1"))
        let end = message(Int(NLMSG_DONE), sequence: 7, flags: UInt16(NLM_F_MULTI), [0, 0, 0, 0])
        #expect(reading([part, end], sequence: 7).reply == .answered(isConsistent: false))
    }

    @Test func anErrorIsARefusal() {
        var payload = Bytes()
        payload.add(-ENETUNREACH)
        #expect(
            reading([message(Int(NLMSG_ERROR), sequence: 7, payload.bytes)], sequence: 7).reply == .refused(ENETUNREACH)
        )
    }

    @Test func theWorstErrorNumberDoesNotTrap() {
        var payload = Bytes()
        payload.add(CInt.min)
        #expect(reading([message(Int(NLMSG_ERROR), sequence: 7, payload.bytes)], sequence: 7).reply != nil)
    }

    @Test func answersToOtherQuestionsDoNotCount() {
        #expect(reading([message(Int(RTM_NEWROUTE), sequence: 6, routePayload())], sequence: 7).reply == nil)
    }

    private func reading(_ messages: [[UInt8]], sequence: UInt32) -> Exchange {
        var exchange = Exchange(sequence: sequence)
        _ = messages.flatMap { $0 }.withUnsafeBytes { bytes in
            NetlinkParser.forEachMessage(in: bytes.bytes) { _ = exchange.accepts($0, $1) }
        }
        return exchange
    }
}
