// SPDX-License-Identifier: Apache-2.0
import Glibc

/// With FUZZING (scripts/fuzz) libFuzzer, which makes inputs. Without, the program takes the files that it is given: to
/// look at a finding in a debugger. UPLINK_FUZZ says what the inputs are.
@main
enum Fuzzer {
    #if FUZZING
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runLibFuzzer(&count, &arguments, take))
    }
    #else
    static func main() {
        for path in CommandLine.arguments.dropFirst() {
            guard let file = fopen(path, "re") else {
                print("\(path) cannot be read")
                exit(1)
            }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = fread(&bytes, 1, bytes.count, file)
            _ = take(bytes, count)
            print("\(path): \(count) bytes, no fault")
        }
    }
    #endif
}

/// Takes one input; a fault ends the process, as a trap does. (libFuzzer's own `main` asks for it by its name.)
@_cdecl("LLVMFuzzerTestOneInput") func take(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do throws(Fault) {
        try target.take(UnsafeRawBufferPointer(start: start, count: count))
    } catch {
        print("fault: \(error)")
        fflush(nil)
        abort()
    }
    return 0
}

private let target: FuzzTarget = {
    let name = getenv("UPLINK_FUZZ").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        print("UPLINK_FUZZ is `\(name)`; give one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
        exit(1)
    }
    return target
}()

#if FUZZING
// The library comes with -sanitize=fuzzer and has no header.
@_silgen_name("LLVMFuzzerRunDriver") private func runLibFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ take: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
#endif
