// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Does one operation so many times and nothing else, so that scripts/check-instructions can count its instructions:
/// `Instructions OPERATION COUNT [SERVER]`.
@main
enum Instructions {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let operation = Operation(rawValue: arguments[1]), let count = Int(arguments[2])
        else {
            let all = Operation.allCases.map(\.rawValue).joined(separator: ", ")
            print("usage: Instructions OPERATION COUNT [SERVER]; operations: \(all)")
            exit(2)
        }
        let server = arguments.count > 3 ? arguments[3] : ""
        Task.detached {
            do {
                try await operation.run(count, server: server)
            } catch {
                print("\(operation): \(error)")
                exit(1)
            }
            exit(0)
        }
        while true { pause() }  // an async `main` would end in sigsuspend(2) with a constant, to which valgrind writes
    }
}

/// What is done. Tests/Instructions/recorded says it in words.
enum Operation: String, CaseIterable {
    case perform, task, wait, hop, timer, cancel, netlink, small, single, stream, memory

    func run(_ count: Int, server: String) async throws {
        switch self {
        case .perform: try await Performing.online(count)
        case .task: try await Performing.inTasks(count)
        case .wait: try await Performing.woken(count)
        case .hop: try await Loops.hops(count)
        case .timer: try await Loops.timers(count)
        case .cancel: try await Loops.cancelledTimers(count)
        case .netlink: try Netlink.messages(count)
        case .small: try await Transfers.small(count, atOnce: 64, server)
        case .single: try await Transfers.small(count, atOnce: 1, server)
        case .stream: try await Transfers.stream(mebibytes: count, server)
        case .memory: try await Transfers.collect(mebibytes: count, server)
        }
    }
}

/// The operation did not do what it was to do.
struct WrongResult: Error {}

func check(_ isRight: Bool) throws(WrongResult) { if !isRight { throw WrongResult() } }
