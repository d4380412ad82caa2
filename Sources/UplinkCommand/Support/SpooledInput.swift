// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage

/// The standard input, whole, in a file that goes with this.
final class SpooledInput: Sendable {
    /// Where it is: in `TMPDIR`, or `/tmp`, for this user alone.
    let path: FilePath

    /// Reads to the end.
    ///
    /// - Throws: ``CommandFailure`` when it cannot be read or there is no room for it, `CancellationError` after a signal.
    init() async throws {
        let directory = FileManager.default.temporaryDirectory.path
        var template = Array("\(directory)/uplink-input-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Self.failure(directory, errno) }
        defer { close(descriptor) }
        path = FilePath(String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
        // From here on `deinit` removes it, also when this throws.
        for try await piece in StandardInput.bytes {
            do { try FileDescriptor(rawValue: descriptor).writeAll(piece) } catch {
                throw Self.failure(directory, (error as? Errno)?.rawValue ?? EIO)
            }
        }
    }

    deinit { unlink(path.string) }

    private static func failure(_ directory: String, _ number: CInt) -> CommandFailure {
        CommandFailure(
            "the standard input cannot be kept in `\(directory)`: \(String(cString: strerror(number))); "
                + "make room there, or set TMPDIR")
    }
}
