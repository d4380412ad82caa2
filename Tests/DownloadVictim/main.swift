// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import Uplink

// Downloads a URL to a file, and says what came of it in one line. Killed in the middle of its work by tests, and
// started by them where the disk is full or must not be written to.
//
//     DownloadVictim URL FILE SECONDS [replace] [stall=SECONDS]

let arguments = CommandLine.arguments
guard arguments.count >= 4, let seconds = Double(arguments[3]) else {
    print("usage: DownloadVictim URL FILE SECONDS [replace] [stall=SECONDS]")
    exit(2)
}
var options = DownloadOptions()
options.requirement = nil  // the server is on this host
options.backOff.initialPause = .milliseconds(5)
options.backOff.maximumPause = .milliseconds(50)
options.replacesExisting = arguments.dropFirst(4).contains("replace")
for word in arguments.dropFirst(4) where word.hasPrefix("stall=") {
    options.request.timeouts = HTTPTimeouts(stall: Int(word.dropFirst("stall=".count)).map { .seconds($0) })
}
do {
    let file = try await HTTPClient.shared.download(
        arguments[1], to: FilePath(arguments[2]), within: .seconds(seconds), options: options)
    print("whole \(file.byteCount) transferred \(file.transferredBytes) resumptions \(file.resumptions)")
} catch let error as DownloadError {
    print("failed \(error.code) errno \(error.errno) kept \(error.keptBytes): \(error)")
    exit(1)
}
