// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UplinkHTTP

/// The files with a transport's authorities and identity, which may be replaced while it runs.
///
/// libcurl reads them for each new connection, but knows TLS sessions by the files' names: a resumed session would be
/// that of the old certificate, and trusted by the old authorities.
struct SecurityFiles {
    /// What distinguishes a file from the one that replaces it.
    private struct Stamp: Equatable {
        let device, inode: UInt64
        let size: Int
        let modified, changed: [Int]
        let isPipe: Bool

        /// Nil if there is no such file.
        init?(of path: FilePath) {
            var status = stat()
            guard path.withPlatformString({ stat($0, &status) }) == 0 else { return nil }
            (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
            size = Int(status.st_size)
            modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
            changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
            isPipe = [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
        }
    }

    /// For how long it is not looked again, in nanoseconds.
    private static let pause: Int64 = 1_000_000_000

    private let paths: [FilePath]
    private var stamps: [Stamp?]?
    private var lookedAt: Int64 = 0
    /// The first that was a pipe or a socket when it was last looked: to open it would block the loop, and its bytes
    /// would come only once.
    private(set) var pipe: FilePath?

    init(_ configuration: CurlTransport.Configuration) {
        var paths: [FilePath] = []
        if case .authorities(let file) = configuration.trust { paths.append(file) }
        switch configuration.identity?.form {
        case .pem(let certificate, let key): paths += [certificate, key]
        case .pkcs12(let file): paths.append(file)
        case nil: break
        }
        self.paths = paths
    }

    /// Whether any has been replaced or changed since it was last looked, which is done once a second at most.
    mutating func haveChanged(now: () -> Int64) -> Bool {
        guard !paths.isEmpty else { return false }
        let now = now()
        if stamps != nil, now - lookedAt < Self.pause { return false }
        lookedAt = now
        let new = paths.map { Stamp(of: $0) }
        defer { stamps = new }
        pipe = zip(paths, new).first { $1?.isPipe == true }?.0
        return stamps.map { $0 != new } ?? false
    }
}

extension CurlTransport.Configuration {
    /// The same with absolute paths of these files, and of the socket: the working directory may change before they are
    /// used.
    var withAbsoluteFiles: Self {
        var configuration = self
        if case .authorities(let file) = trust { configuration.trust = .authorities(file.absolute) }
        if let identity { configuration.identity = identity.absolute }
        if let unixSocket { configuration.unixSocket = unixSocket.absolute }
        return configuration
    }
}

extension CurlTransport.ClientIdentity {
    fileprivate var absolute: Self {
        switch form {
        case .pem(let certificate, let key):
            Self(certificate: certificate.absolute, key: key.absolute, password: password())
        case .pkcs12(let file): Self(pkcs12: file.absolute, password: password())
        }
    }
}
