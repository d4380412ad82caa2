// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Uplink

/// Which of a batch's downloads run, without any I/O.
@Suite(.timeLimit(.minutes(1)))
struct DownloadBatchMachineTests {
    private func code(_ result: Result<DownloadedFile, any Error>) -> DownloadError.Code? {
        if case .failure(let error) = result { (error as? DownloadError)?.code } else { nil }
    }

    @Test func soManyRunAtOnceAndHostsTakeTurns() {
        var limits = DownloadBatchLimits()
        (limits.maximumRunning, limits.maximumRunningPerHost) = (3, 2)
        var machine = DownloadBatchMachine(hosts: ["a", "a", "a", "a", "b"], limits: limits)
        machine.checked(refusing: [:])
        #expect(Set(machine.start()) == [0, 1, 4])  // b need not wait for all of a's
        #expect(machine.start().isEmpty)
        machine.ended(4, .failure(CancellationError()))
        #expect(machine.start().isEmpty)  // a has two
        machine.ended(0, .failure(CancellationError()))
        #expect(machine.start() == [2])
        machine.ended(3, .failure(CancellationError()))  // cancelled in the queue
        machine.ended(1, .failure(CancellationError()))
        #expect(machine.start().isEmpty)
        #expect(machine.outcomes == nil)
        machine.ended(2, .failure(CancellationError()))
        #expect(machine.outcomes?.count == 5)
    }

    @Test func whoPausesLendsItsPlaceToAnotherHostAndComesBackFirst() {
        var limits = DownloadBatchLimits()
        (limits.maximumRunning, limits.maximumRunningPerHost) = (1, 1)
        var machine = DownloadBatchMachine(hosts: ["a", "a", "b", "c"], limits: limits)
        machine.checked(refusing: [:])
        #expect(machine.start() == [0])
        machine.pauses(0)
        #expect(machine.start() == [2])  // not a's next one: its host has one under way
        #expect(machine.progress.runningCount == 2)
        #expect(machine.returns(0) == true)
        #expect(machine.goOn().isEmpty && machine.start().isEmpty)
        machine.progressed(0, DownloadProgress())
        machine.ended(2, .failure(CancellationError()))
        #expect(machine.goOn() == [0])
        #expect(machine.start().isEmpty)
        #expect(machine.returns(0) == false)  // it has a place
        machine.pauses(0)
        machine.ended(0, .failure(CancellationError()))  // cancelled in its pause
        #expect(machine.start() == [3])
        machine.ended(3, .failure(CancellationError()))
        #expect(machine.start() == [1])
        machine.pauses(1)
        #expect(machine.returns(1) == true)
        machine.ended(1, .failure(CancellationError()))  // cancelled while it waits for a place
        #expect(machine.goOn().isEmpty)
        #expect(machine.isOver)
    }

    @Test func whereVeryManyPauseTheNextOneKeepsItsPlace() {
        var limits = DownloadBatchLimits()
        limits.maximumRunning = 1
        var machine = DownloadBatchMachine(hosts: (0..<20).map(String.init), limits: limits)
        machine.checked(refusing: [:])
        for item in 0..<DownloadBatchMachine.awayPerPlace {
            #expect(machine.start() == [item])
            machine.pauses(item)
        }
        let last = DownloadBatchMachine.awayPerPlace
        #expect(machine.start() == [last])
        machine.pauses(last)
        #expect(machine.start().isEmpty)
        #expect(machine.returns(last) == false)
        // Unless one of them waits for that very place, which it would otherwise keep for ever.
        #expect(machine.returns(1) == true)
        machine.pauses(last)
        #expect(machine.goOn() == [1] && machine.start().isEmpty)
        machine.pauses(1)
        #expect(machine.returns(last) == true && machine.goOn().isEmpty)
        machine.pauses(last)
        machine.ended(0, .failure(CancellationError()))
        machine.pauses(1)
        #expect(machine.start() == [last + 1])
    }

    /// Its network is lost again while it waits for a place: the next time, it waits for that in its turn.
    @Test func whoMeanwhileLosesItsNetworkLendsThePlaceThatItDidNotGet() {
        var limits = DownloadBatchLimits()
        limits.maximumRunning = 1
        var machine = DownloadBatchMachine(hosts: ["a", "b"], limits: limits)
        machine.checked(refusing: [:])
        #expect(machine.start() == [0])
        machine.pauses(0)
        #expect(machine.start() == [1])
        #expect(machine.returns(0) == true)
        #expect(machine.returns(0) == true)  // asked again, it still has none
        machine.pauses(0)
        machine.ended(1, .failure(CancellationError()))
        #expect(machine.goOn().isEmpty)  // nobody wants the place that is free
        #expect(machine.returns(0) == true)
        #expect(machine.goOn() == [0])
        #expect(machine.returns(0) == false)
    }

    @Test func nothingStartsBeforeItIsKnownWhatIsRefused() {
        var machine = DownloadBatchMachine(hosts: ["a", "a", "a", "a"], limits: DownloadBatchLimits())
        machine.ended(3, .failure(CancellationError()))  // cancelled that early
        #expect(machine.start().isEmpty)
        let busy = DownloadError(.targetBusy, message: "")
        machine.checked(refusing: [1: busy, 2: busy, 3: busy])
        #expect(machine.start() == [0])
        machine.ended(0, .failure(CancellationError()))
        #expect(machine.outcomes?.map { code($0) } == [nil, .targetBusy, .targetBusy, nil])
    }

    @Test func whoIsDroppedBeforeItIsKnownWhatIsRefusedStaysSo() {
        var machine = DownloadBatchMachine(hosts: ["a", "a"], limits: DownloadBatchLimits())
        machine.dropped(0, DownloadError(.deadlineExceeded, message: ""))
        machine.checked(refusing: [0: DownloadError(.targetBusy, message: "")])
        #expect(machine.start() == [1])
        machine.dropped(1, CancellationError())  // which has started
        #expect(!machine.isOver)
        machine.ended(1, .failure(DownloadError(.diskFull, message: "")))
        #expect(machine.outcomes?.map { code($0) } == [.deadlineExceeded, .diskFull])
    }

    @Test func sizesThatAreTooLargeToAddUpAreUnknown() {
        var machine = DownloadBatchMachine(hosts: ["a", "b"], limits: DownloadBatchLimits())
        machine.checked(refusing: [:])
        var progress = DownloadProgress()
        (progress.totalBytes, progress.receivedBytes) = (.max, .max)
        for item in machine.start() { machine.progressed(item, progress) }
        #expect(machine.progress.totalBytes == nil)
        #expect(machine.progress.receivedBytes == .max)
    }
}
