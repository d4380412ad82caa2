// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage

extension ServedFiles {
    /// The bytes of an upload that is under way.
    enum Upload: Sendable {
        /// The prefix of a file's name until it has its own; the rest of it is a number.
        static let prefix = ".uplink-upload-"

        /// Whether a file's name is one that an upload has until it has its own.
        static func isTemporary(_ name: String) -> Bool {
            name.hasPrefix(prefix) && UInt64(name.dropFirst(prefix.count), radix: 16) != nil
        }

        case memory(MemoryUpload)
        case file(File)

        /// - Throws: ``ServiceError`` when there is no room for them.
        mutating func write(_ bytes: Data) throws {
            switch self {
            case .memory(let memory): try memory.write(bytes)
            case .file(var file):
                try file.write(bytes)
                self = .file(file)
            }
        }

        /// Releases what it holds. A file that has its name stays.
        func end() {
            switch self {
            case .memory(let memory): memory.end()
            case .file(let file): file.end()
            }
        }

        /// An upload in a file beside its target.
        struct File: Sendable {
            private let directory: ServedDirectory
            private let name: String
            private let descriptor: FileDescriptor
            private(set) var size: Int64 = 0

            init(in directory: ServedDirectory) throws(ServiceError) {
                self.directory = directory
                name = Upload.prefix + String(UInt64.random(in: 0 ... .max), radix: 16)
                do throws(Errno) { descriptor = try directory.create(name) } catch { throw Self.failure(error) }
            }

            mutating func write(_ bytes: Data) throws {
                do { try descriptor.writeAll(bytes) } catch let error as Errno { throw Self.failure(error) }
                size += Int64(bytes.count)
            }

            /// Gives the file its name; never replaces an existing file. The date is exact, so that it distinguishes
            /// this file from the next one.
            func give(_ target: String, date: Timestamp) throws(ServiceError) {
                let time = timespec(tv_sec: Int(date.seconds), tv_nsec: Int(date.nanoseconds))
                guard futimens(descriptor.rawValue, [time, time]) == 0 else {
                    throw Self.failure(Errno(rawValue: errno))
                }
                do throws(Errno) { try directory.rename(name, to: target) } catch .fileExists {
                    throw .badRequest("the folder has a file with this name")
                } catch {
                    throw Self.failure(error)
                }
            }

            func end() {
                try? descriptor.close()
                try? directory.remove(name)
            }

            private static func failure(_ error: Errno) -> ServiceError {
                error == .noSpace ? .full : .failed("the file could not be written: \(error)")
            }
        }
    }
}
