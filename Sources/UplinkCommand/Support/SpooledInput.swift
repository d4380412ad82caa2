// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage

/// The whole standard input, in a file that is gone with this object, and with the process however it ends.
///
/// It is in `TMPDIR`, or `/tmp`, and has no name there.
final class SpooledInput: Sendable {
    private let descriptor: CInt

    /// The path by which this process can open it.
    var path: FilePath { FilePath("/proc/self/fd/\(descriptor)") }

    /// Reads the input to its end.
    ///
    /// - Throws: ``CommandFailure`` when it cannot be read or there is no room for it, `CancellationError` after a
    ///   signal.
    init() async throws {
        let directory = FileManager.default.temporaryDirectory.path
        var template = Array("\(directory)/uplink-input-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Self.failure(directory, errno) }
        unlink(template)
        for try await piece in StandardInput.bytes {
            do { try FileDescriptor(rawValue: descriptor).writeAll(piece) } catch {
                throw Self.failure(directory, (error as? Errno)?.rawValue ?? EIO)
            }
        }
        try Task.checkCancellation()  // which may look like the input's end
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static func failure(_ directory: String, _ number: CInt) -> CommandFailure {
        CommandFailure(
            "the standard input cannot be kept in `\(directory)`: \(String(cString: strerror(number))); "
                + "make room there, or set TMPDIR")
    }
}
