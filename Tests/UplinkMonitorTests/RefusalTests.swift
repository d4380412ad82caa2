// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing
import UplinkCore
import UplinkEventLoop

@testable import UplinkMonitor

/// What a monitor says where a sandbox forbids its system calls: a seccomp filter on the loop's thread alone.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct RefusalTests {
    @Test(arguments: [EAFNOSUPPORT, EPERM, EACCES])
    func aRefusedSocketIsAnErrorThatSaysWhatToDo(errno: CInt) async throws {
        try await withEventLoop { loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.socket, with: errno) })
            let monitor = LinuxNetworkMonitor(on: loop)
            let start = ContinuousClock.now
            let error = await #expect(throws: NetworkMonitorError.self) { for try await _ in monitor.paths {} }
            #expect(ContinuousClock.now - start < .seconds(1))
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("RestrictAddressFamilies") == true)
            #expect((error?.underlyingError as? NetlinkError)?.errno == errno)
            #expect(monitor.currentPath == nil)
        }
    }

    @Test func everySubscriberIsToldOnceAndNothingSpins() async throws {
        try await withEventLoop { loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.socket, with: EPERM) })
            let monitor = LinuxNetworkMonitor(on: loop)
            for _ in 0..<3 {
                var paths = monitor.paths.makeAsyncIterator()
                await #expect(throws: NetworkMonitorError.self) { try await paths.next() }
                let path = try await paths.next()
                #expect(path == nil)
            }
            #expect(await monitor.statistics().evaluations == 0)
        }
    }

    @Test func asManyAsSubscribeAfterAFailureAreServed() async throws {
        try await withEventLoop { loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.socket, with: EPERM) })
            let monitor = LinuxNetworkMonitor(on: loop)
            var first = monitor.paths.makeAsyncIterator()
            await #expect(throws: NetworkMonitorError.self) { try await first.next() }
            var second = monitor.paths.makeAsyncIterator()  // while the first still holds its place
            await #expect(throws: NetworkMonitorError.self) { try await second.next() }
            let path = try await first.next()
            #expect(path == nil)
        }
    }

    @Test func aSocketThatFailsLaterEndsTheStreamsWithAnError() async throws {
        try await withEventLoop { loop in
            let monitor = LinuxNetworkMonitor(on: loop)
            var paths = monitor.paths.makeAsyncIterator()
            _ = try await paths.next()
            try #require(await onLoop(loop) { Sandbox.refuse(.recvmsg, with: EACCES) })
            await monitor.watcher.readNow()
            let error = await #expect(throws: NetworkMonitorError.self) { while try await paths.next() != nil {} }
            #expect(error?.code == .failed)
            #expect(await monitor.watcher.eventPort == 0)
        }
    }
}

/// A seccomp filter for the calling thread.
private enum Sandbox {
    /// A system call by its number on this machine.
    enum Call {
        case socket, recvmsg

        var number: UInt32 {
            #if arch(x86_64)
            switch self {
            case .socket: 41
            case .recvmsg: 47
            }
            #else
            switch self {
            case .socket: 198
            case .recvmsg: 212
            }
            #endif
        }
    }

    private struct Instruction {
        var code: UInt16
        var ifTrue: UInt8 = 0
        var ifFalse: UInt8 = 0
        var operand: UInt32
    }

    private struct Program {
        var length: UInt16
        var instructions: UnsafeMutablePointer<Instruction>?
    }

    /// From now on the call fails on this thread; whether that could be had.
    static func refuse(_ call: Call, with errno: CInt) -> Bool {
        // prctl is variadic in C, which Swift does not import; its arguments are passed like any others.
        typealias Function = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
        guard let symbol = dlsym(nil, "prctl") else { return false }
        let prctl = unsafeBitCast(symbol, to: Function.self)
        var instructions = [
            Instruction(code: 0x20, operand: 0),  // load the call's number
            Instruction(code: 0x15, ifFalse: 1, operand: call.number),  // is it this one?
            Instruction(code: 0x06, operand: 0x0005_0000 | UInt32(errno)),  // SECCOMP_RET_ERRNO
            Instruction(code: 0x06, operand: 0x7FFF_0000),  // SECCOMP_RET_ALLOW
        ]
        return instructions.withUnsafeMutableBufferPointer { instructions in
            var program = Program(length: UInt16(instructions.count), instructions: instructions.baseAddress)
            return withUnsafePointer(to: &program) { program in
                prctl(38, 1, 0, 0, 0) == 0  // PR_SET_NO_NEW_PRIVS
                    && prctl(22, 2, UInt(bitPattern: program), 0, 0) == 0  // PR_SET_SECCOMP, SECCOMP_MODE_FILTER
            }
        }
    }
}
