// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Takes from the calling thread what a sandbox takes from a process. (The kernel keeps both for each thread.)
package enum Sandbox {
    /// A system call by its number on this machine.
    package enum Call {
        case socket, recvmsg, flock
        /// `socket(2)` for netlink alone, as a systemd unit without AF_NETLINK has it.
        case netlinkSocket

        var number: UInt32 {
            #if arch(x86_64)
            switch self {
            case .socket, .netlinkSocket: 41
            case .recvmsg: 47
            case .flock: 73
            }
            #else
            switch self {
            case .socket, .netlinkSocket: 198
            case .recvmsg: 212
            case .flock: 32
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

    /// Makes the thread one of the user `nobody` without capabilities; whether that could be had.
    package static func dropPrivileges() -> Bool {
        // glibc's setresuid(2) would do it to all threads; the bare system call does it to this one.
        typealias Function = @convention(c) (CLong, CLong, CLong, CLong) -> CLong
        guard let symbol = dlsym(nil, "syscall") else { return false }
        #if arch(x86_64)
        let setresuid = 117
        #else
        let setresuid = 147
        #endif
        return unsafeBitCast(symbol, to: Function.self)(setresuid, 65534, 65534, 65534) == 0
    }

    /// From now on the call fails on this thread; whether that could be had.
    package static func refuse(_ call: Call, with errno: CInt) -> Bool {
        // prctl is variadic in C, which Swift does not import; its arguments are passed like any others.
        typealias Function = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
        guard let symbol = dlsym(nil, "prctl") else { return false }
        let prctl = unsafeBitCast(symbol, to: Function.self)
        var instructions = [
            Instruction(code: 0x20, operand: 0),  // load the call's number
            Instruction(code: 0x15, ifFalse: 3, operand: call.number),  // is it this one?
            Instruction(code: 0x20, operand: 16),  // load the first argument
            Instruction(code: 0x15, ifTrue: 0, ifFalse: call == .netlinkSocket ? 1 : 0, operand: 16),  // AF_NETLINK?
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
