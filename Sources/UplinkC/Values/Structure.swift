// SPDX-License-Identifier: Apache-2.0
import CUplink
import Glibc

/// A structure of the header, which begins with the size that the program knows of it.
enum Structure {
    /// Larger ones are garbage.
    private static let maximumSize = 4096

    /// Copies a structure, or refuses it: one that is too small, or that is of a newer header and says something there.
    static func read<Value>(_ pointer: UnsafePointer<Value>) throws(StatusError) -> Value {
        let size = UnsafeRawPointer(pointer).load(as: Int.self)
        let known = MemoryLayout<Value>.size
        guard (known...maximumSize).contains(size) else { throw StatusError(Status.invalid) }
        let rest = UnsafeRawBufferPointer(start: UnsafeRawPointer(pointer) + known, count: size - known)
        guard rest.allSatisfy({ $0 == 0 }) else { throw StatusError(Status.invalid) }
        return pointer.pointee
    }
}

/// Texts from C.
enum Text {
    /// The longest URL, name or header field that is taken.
    static let maximumLength = 64 * 1024

    /// A text of at most so many bytes, and at least one; throws for others.
    static func read(_ pointer: UnsafePointer<CChar>, atMost maximum: Int = maximumLength) throws(StatusError) -> String
    {
        let length = strnlen(pointer, maximum + 1)
        guard (1...maximum).contains(length) else { throw StatusError(Status.invalid) }
        return String(cString: pointer)
    }
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

    /// A timeout: 0 is the default, `UPLINK_INFINITE` none.
    static func timeout(_ milliseconds: Int64, default standard: Duration?) throws(StatusError) -> Duration? {
        switch milliseconds {
        case -1: return nil
        case 0: return standard
        case 0...: return .milliseconds(milliseconds)
        default: throw StatusError(Status.invalid)
        }
    }
}
