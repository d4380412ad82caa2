// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage

extension ServedFiles {
    /// The bytes of an upload that is under way.
    enum Upload: Sendable {
        /// The prefix of a file's name until it has its own.
        static let prefix = ".uplink-upload-"

        case memory(Memory)
        case file(File)

        /// - Throws: ``ServiceError`` when there is no room for them.
        mutating func write(_ bytes: Data) throws {
            switch self {
            case .memory(var memory):
                self = .file(File.none)  // so that the bytes have one owner, and are not copied
                try memory.write(bytes)
                self = .memory(memory)
            case .file(var file):
                try file.write(bytes)
                self = .file(file)
            }
        }

        /// Releases what it holds. A file that was linked stays.
        func end() {
            switch self {
            case .memory: break
            case .file(let file): file.end()
            }
        }

        /// An upload in memory.
        struct Memory: Sendable {
            let limit: Int
            private(set) var bytes = Data()

            init(limit: Int) { self.limit = limit }

            mutating func write(_ more: Data) throws {
                guard bytes.count + more.count <= limit else { throw ServiceError.full }
                bytes.append(more)
            }
        }

        /// An upload in a file beside its target.
        struct File: Sendable {
            static let none = File(descriptor: -1, path: "")
            private let descriptor: CInt
            private let path: FilePath
            private(set) var size: Int64 = 0

            private init(descriptor: CInt, path: FilePath) {
                self.descriptor = descriptor
                self.path = path
            }

            init(in folder: FilePath) throws {
                var template = folder.appending(Upload.prefix + "XXXXXX").string.utf8CString.map { $0 }
                descriptor = mkstemp(&template)
                guard descriptor >= 0 else { throw Self.failure(errno) }
                path = FilePath(String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                fchmod(descriptor, DownloadTarget.usualPermissions.rawValue)
            }

            mutating func write(_ bytes: Data) throws {
                do { try FileDescriptor(rawValue: descriptor).writeAll(bytes) } catch let error as Errno {
                    throw error == .noSpace ? ServiceError.full : Self.failure(error.rawValue)
                }
                size += Int64(bytes.count)
            }

            /// Gives the file its name; never replaces an existing file. The date is exact, so that it distinguishes
            /// this file from the next one.
            func link(to target: FilePath, date: Timestamp) throws {
                let time = timespec(tv_sec: Int(date.seconds), tv_nsec: Int(date.nanoseconds))
                guard futimens(descriptor, [time, time]) == 0 else { throw Self.failure(errno) }
                guard Glibc.link(path.string, target.string) != 0 else { return }
                guard errno == EEXIST else { throw Self.failure(errno) }
                throw ServiceError.badRequest("the folder has a file with this name")
            }

            func end() {
                guard descriptor >= 0 else { return }
                close(descriptor)
                unlink(path.string)
            }

            private static func failure(_ number: CInt) -> ServiceError {
                .failed("the file could not be written: \(String(cString: strerror(number)))")
            }
        }
    }
}
