// SPDX-License-Identifier: Apache-2.0
#if Store
import Glibc
import SystemPackage

/// Works on a store until it is killed: `StoreVictim MODE DATABASE [SERVER]`. Each line it prints is a promise that the
/// tests hold it to.
@main
struct Main {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else {
            return say("usage: StoreVictim open|fill|overfill|rewrite|lock|seize|work|drain DATABASE [SERVER]")
        }
        let path = FilePath(arguments[1])
        do {
            switch arguments[0] {
            case "open": try await Openings.open(path)
            case "fill": try await Openings.fill(path)
            case "overfill": try await Openings.overfill(path)
            case "rewrite": try await Openings.rewrite(path)
            case "lock": try await Openings.lock(path, exclusively: false)
            case "seize": try await Openings.lock(path, exclusively: true)
            case "work": try await Work(path, server: arguments[2]).run(untilEmpty: false)
            case "drain": try await Work(path, server: arguments[2]).run(untilEmpty: true)
            default: say("unknown mode")
            }
        } catch {
            say("failed: \(error)")
        }
    }
}

/// Prints a line, of which nothing stays in a buffer.
func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
#else
@main
struct Main {
    static func main() { print("built without the trait Store") }
}
#endif
