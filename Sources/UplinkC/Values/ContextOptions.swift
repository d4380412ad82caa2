// SPDX-License-Identifier: Apache-2.0
import CUplink
import Glibc
import SystemPackage
import UplinkCurl

/// The options of a C program for its context.
struct ContextOptions {
    var dispatches = false
    var networkNamespace: String?
    var transport = CurlTransport.Configuration()
    var log: uplink_log_cb?
    var logUser = UserPointer(nil)
    var logLevel = Log.Level.warning

    init(_ pointer: UnsafePointer<uplink_context_options>?) throws(StatusError) {
        guard let pointer else { return }
        let values = try Structure.read(pointer, atLeast: Structure.contextOptionsSize)
        guard values.reserved == 0 else { throw StatusError(Status.invalid) }
        dispatches = values.dispatch
        if let name = values.network_namespace {
            networkNamespace = try Text.read(name, atMost: Int(PATH_MAX) - 1)
        }
        if let file = values.ca_file {
            guard let path = Text.absolutePath(file), Self.isReadableFile(path) else {
                throw StatusError(Status.invalid)
            }
            transport.trust = .authorities(path)
        }
        log = values.log
        logUser = UserPointer(values.log_user)
        if values.log_level != 0 {
            guard let level = Log.Level(rawValue: values.log_level) else { throw StatusError(Status.invalid) }
            logLevel = level
        }
    }

    private static func isReadableFile(_ path: FilePath) -> Bool {
        path.withPlatformString { path in
            var status = stat()
            return access(path, R_OK) == 0 && stat(path, &status) == 0
                && ![S_IFDIR, S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
        }
    }
}
