// SPDX-License-Identifier: Apache-2.0
import CUplink
import Glibc
import SystemPackage
import UplinkHTTP

/// The structures of the header, which begin with the size that the program knows.
enum Structure {
    /// The size of each structure in the version that introduced it, which never changes: no version of the header has
    /// a smaller one. These are the sizes on 64-bit machines, and the header refuses others.
    static let contextOptionsSize = 56
    static let requirementSize = 32
    static let getOptionsSize = 72
    static let requestOptionsSize = 72
    static let downloadOptionsSize = 96
    /// The largest plausible size; larger ones are garbage.
    private static let maximumSize = 4096

    /// Copies a structure, with zeros for what an older header does not have. Refuses one that is too small, or that is
    /// from a newer header and has something set there.
    static func read<Value>(_ pointer: UnsafePointer<Value>, atLeast minimum: Int) throws(StatusError) -> Value {
        let given = UnsafeRawPointer(pointer)
        let size = given.load(as: Int.self)
        guard (minimum...maximumSize).contains(size) else { throw StatusError(Status.invalid) }
        let taken = min(size, MemoryLayout<Value>.size)
        let rest = UnsafeRawBufferPointer(start: given + taken, count: size - taken)
        guard rest.allSatisfy({ $0 == 0 }) else { throw StatusError(Status.invalid) }
        return withUnsafeTemporaryAllocation(
            byteCount: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment
        ) { copy in
            copy.initializeMemory(as: UInt8.self, repeating: 0)
            copy.copyMemory(from: UnsafeRawBufferPointer(start: given, count: taken))
            return copy.load(as: Value.self)
        }
    }
}

/// Texts from C.
enum Text {
    /// The longest URL, name or header field that is accepted.
    static let maximumLength = 64 * 1024

    /// Reads a text of at least one byte and at most this many, in UTF-8; throws for others.
    ///
    /// - Parameter status: The status for a text that is not in UTF-8.
    static func read(
        _ pointer: UnsafePointer<CChar>, atMost maximum: Int = maximumLength, notUTF8 status: CInt = Status.invalid
    ) throws(StatusError) -> String {
        let length = strnlen(pointer, maximum + 1)
        guard (1...maximum).contains(length) else { throw StatusError(Status.invalid) }
        // Text that is not UTF-8 would otherwise be repaired silently, and sent as something else.
        guard let text = String(validatingCString: pointer) else { throw StatusError(status) }
        return text
    }

    /// Reads a path; nil for NULL, for an empty one, and for one that is too long.
    static func path(_ pointer: UnsafePointer<CChar>?) -> FilePath? {
        guard let pointer, (1..<Int(PATH_MAX)).contains(strnlen(pointer, Int(PATH_MAX))) else { return nil }
        return FilePath(platformString: pointer)
    }

    /// The same from the root on: by the time it is used, the working directory may be another one.
    static func absolutePath(_ pointer: UnsafePointer<CChar>?) -> FilePath? { path(pointer)?.absolute }
}

/// Times from C.
enum Milliseconds {
    /// A limit in seconds; infinity for `UPLINK_INFINITE`.
    static func seconds(_ milliseconds: Int64) throws(StatusError) -> Double {
        switch milliseconds {
        case -1: return .infinity
        case 0...: return Double(milliseconds) / 1000
        default: throw StatusError(Status.invalid)
        }
    }

    /// A timeout: 0 is the default, and `UPLINK_INFINITE` is none.
    static func timeout(_ milliseconds: Int64, default standard: Duration?) throws(StatusError) -> Duration? {
        switch milliseconds {
        case -1: return nil
        case 0: return standard
        case 0...: return .milliseconds(milliseconds)
        default: throw StatusError(Status.invalid)
        }
    }
}
