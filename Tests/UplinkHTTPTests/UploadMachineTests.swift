// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct UploadMachineTests {
    private struct Broken: Error {}

    private func chunk(_ count: Int, of byte: UInt8 = 1) -> HTTPBody.Chunk {
        HTTPBody.Chunk([UInt8](repeating: byte, count: count))
    }

    /// What the engine gets when it asks for up to `count` bytes.
    private func take(_ count: Int, from machine: inout UploadMachine<Int>) -> ([UInt8], UploadReading) {
        var bytes = [UInt8](repeating: 0, count: count)
        let taking = bytes.withUnsafeMutableBytes { machine.take(into: $0) }
        guard case .bytes(let taken) = taking else { return ([], taking) }
        return (Array(bytes[..<taken]), taking)
    }

    private func isTaken(_ offer: UploadMachine<Int>.Offer, waking: Bool = false) -> Bool {
        if case .taken(let wakes) = offer { return wakes == waking }
        return false
    }

    private func isFull(_ offer: UploadMachine<Int>.Offer) -> Bool {
        if case .full = offer { return true }
        return false
    }

    /// The code of the error that an offer meets.
    private func code(_ offer: UploadMachine<Int>.Offer) -> HTTPClientError.Code? {
        if case .failed(let error) = offer { return (error as? HTTPClientError)?.code }
        return nil
    }

    @Test func bytesGoThroughInOrderHoweverTheyAreCut() {
        var machine = UploadMachine<Int>(length: nil, highMark: 1000)
        let sizes = [1, 7, 64, 128]
        for (number, size) in sizes.enumerated() {
            let offer = machine.offer(chunk(size, of: UInt8(number)))
            #expect(isTaken(offer))
        }
        let isDue = machine.finish(throwing: nil)
        #expect(!isDue)
        var all: [UInt8] = []
        while case (let bytes, .bytes) = take(9, from: &machine) { all += bytes }
        #expect(all == sizes.enumerated().flatMap { [UInt8](repeating: UInt8($0), count: $1) })
        let (_, taking) = take(9, from: &machine)
        #expect(taking == .end)
    }

    @Test func manyPiecesAreLetGo() {
        var machine = UploadMachine<Int>(length: nil, highMark: 100_000)
        for round in 0..<500 {
            let offer = machine.offer(chunk(3, of: UInt8(round & 255)))
            #expect(isTaken(offer))
            guard round % 100 == 99 else { continue }
            let (bytes, _) = take(1000, from: &machine)
            #expect(bytes == (round - 99...round).flatMap { [UInt8](repeating: UInt8($0 & 255), count: 3) })
        }
        #expect(machine.bytes == 0)
    }

    /// Each costs more than its bytes.
    @Test func ofSmallPiecesNoMoreWaitThanOfLargeOnes() {
        var machine = UploadMachine<Int>(length: nil, highMark: 1 << 20)
        var count = 0
        while isTaken(machine.offer(chunk(1))), count < 100_000 { count += 1 }
        #expect(count == UploadMachine<Int>.mostPieces)
        let isParked = machine.park(7)
        #expect(isParked)
        _ = take(1, from: &machine)
        #expect(machine.flush() == nil)  // not for each piece
        _ = take(count / 2, from: &machine)
        #expect(machine.flush() == 7)
        let offer = machine.offer(chunk(1))
        #expect(isTaken(offer))
    }

    @Test func theProducerWaitsAboveTheHighMark() {
        var machine = UploadMachine<Int>(length: nil, highMark: 100)
        var offers = [machine.offer(chunk(60)), machine.offer(chunk(40)), machine.offer(chunk(30))]
        #expect(isTaken(offers[0]) && isTaken(offers[1]) && isFull(offers[2]))
        #expect(machine.bytes == 100)
        let isParked = machine.park(7)
        #expect(isParked)
        #expect(machine.flush() == nil)
        _ = take(40, from: &machine)  // room enough for it, and still above the half
        #expect(machine.flush() == nil)
        _ = take(10, from: &machine)
        #expect(machine.flush() == 7)
        #expect(machine.flush() == nil)
        offers = [machine.offer(chunk(30))]
        #expect(isTaken(offers[0]))
    }

    @Test func aPieceLargerThanTheMarkWaitsAlone() {
        var machine = UploadMachine<Int>(length: nil, highMark: 10)
        var offers = [machine.offer(chunk(1)), machine.offer(chunk(500))]
        #expect(isTaken(offers[0]) && isFull(offers[1]))
        let isParked = machine.park(1)
        #expect(isParked)
        _ = take(5, from: &machine)
        #expect(machine.flush() == 1)
        offers = [machine.offer(chunk(500))]
        #expect(isTaken(offers[0]))
    }

    @Test func roomThatCameBeforeTheProducerParksIsSeen() {
        var machine = UploadMachine<Int>(length: nil, highMark: 10)
        let offers = [machine.offer(chunk(10)), machine.offer(chunk(1))]
        #expect(isTaken(offers[0]) && isFull(offers[1]))
        _ = take(10, from: &machine)
        let isParked = machine.park(1)
        #expect(!isParked)
    }

    @Test func theEngineIsToldOnceThatThereIsSomethingAgain() {
        var machine = UploadMachine<Int>(length: nil, highMark: 100)
        let (_, taking) = take(5, from: &machine)
        #expect(taking == .wait)
        let offers = [machine.offer(chunk(1)), machine.offer(chunk(1))]
        #expect(isTaken(offers[0], waking: true) && isTaken(offers[1]))
        _ = take(5, from: &machine)
        _ = take(5, from: &machine)
        let isDue = machine.finish(throwing: nil)
        #expect(isDue)
    }

    @Test func theLastByteWaitsForTheEnd() {
        var machine = UploadMachine<Int>(length: 5, highMark: 100)
        let offer = machine.offer(chunk(5))
        #expect(isTaken(offer))
        var (bytes, taking) = take(9, from: &machine)
        #expect(bytes.count == 4)
        (bytes, taking) = take(9, from: &machine)
        #expect(taking == .wait)
        let isDue = machine.finish(throwing: nil)
        #expect(isDue)
        (bytes, taking) = take(9, from: &machine)
        #expect(bytes.count == 1)
        (bytes, taking) = take(9, from: &machine)
        #expect(taking == .end)
    }

    @Test func tooMuchIsAnErrorBeforeTheLastByteIsGone() {
        var machine = UploadMachine<Int>(length: 5, highMark: 100)
        let offers = [machine.offer(chunk(5)), machine.offer(chunk(1)), machine.offer(chunk(1))]
        #expect(isTaken(offers[0]))
        #expect(code(offers[1]) == .bodyLengthMismatch && code(offers[2]) == .bodyLengthMismatch)
        let isDue = machine.finish(throwing: Broken())
        #expect(isDue)
        #expect((machine.failure as? HTTPClientError)?.code == .bodyLengthMismatch)
        let (_, taking) = take(9, from: &machine)
        #expect(taking == .failed)
    }

    @Test func tooLittleIsAnError() {
        var machine = UploadMachine<Int>(length: 5, highMark: 100)
        _ = machine.offer(chunk(4))
        let isDue = machine.finish(throwing: nil)
        #expect(isDue)
        #expect((machine.failure as? HTTPClientError)?.code == .bodyLengthMismatch)
        let (_, taking) = take(9, from: &machine)
        #expect(taking == .failed)
    }

    @Test func aProducersErrorStaysWhatItIs() {
        var machine = UploadMachine<Int>(length: nil, highMark: 100)
        let isDue = machine.finish(throwing: Broken())
        #expect(isDue)
        #expect(machine.failure is Broken)
        _ = machine.stop()
        #expect(machine.failure is Broken)
    }

    @Test func stoppingLetsTheProducerGo() {
        var machine = UploadMachine<Int>(length: nil, highMark: 10)
        _ = machine.offer(chunk(10))
        _ = machine.offer(chunk(10))
        _ = machine.park(3)
        #expect(machine.stop() == 3)
        #expect(machine.bytes == 0)
        guard case .stopped = machine.offer(chunk(1)) else {
            Issue.record("a piece was taken that nobody wants")
            return
        }
        let isDue = machine.finish(throwing: Broken())
        #expect(!isDue)
        #expect(machine.failure == nil)
        let isParked = machine.park(4)
        #expect(!isParked)
    }

    /// The task of a production may come to run only when its transfer has ended, and the body then still is to be
    /// sent.
    @Test func whatNobodyWantsAnyMoreDoesNotBegin() async {
        let (stopped, wanted) = (UploadPipe(length: nil) {}, UploadPipe(length: nil) {})
        let begun = Locked(0)
        let production = BodyProduction(length: nil, runsForeignCode: true) { _ in begun.withLock { $0 += 1 } }
        #expect(stopped.stop() == nil)
        await stopped.run(production)
        #expect(begun.withLock { $0 } == 0)
        await wanted.run(production)
        #expect(begun.withLock { $0 } == 1)
    }
}
