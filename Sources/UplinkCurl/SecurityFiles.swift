// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// The files with a transport's authorities and identity, which may be replaced while it runs.
///
/// libcurl reads them for each new connection, but knows TLS sessions by the files' names: a resumed session would be
/// that of the old certificate, and trusted by the old authorities.
struct SecurityFiles {
    /// What distinguishes a file from the one that replaces it.
    private struct Stamp: Equatable {
        let device, inode: UInt64
        let size, seconds, nanoseconds: Int

        /// Nil if there is no such file.
        init?(of path: FilePath) {
            var status = stat()
            guard path.withPlatformString({ stat($0, &status) }) == 0 else { return nil }
            (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
            (size, seconds) = (Int(status.st_size), status.st_mtim.tv_sec)
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    /// For how long it is not looked again, in nanoseconds.
    private static let pause: Int64 = 1_000_000_000

    private let paths: [FilePath]
    private var stamps: [Stamp?]?
    private var lookedAt: Int64 = 0

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

    /// Whether any has been replaced or changed since this was asked last, at most once a second.
    mutating func haveChanged(now: () -> Int64) -> Bool {
        guard !paths.isEmpty else { return false }
        let now = now()
        if stamps != nil, now - lookedAt < Self.pause { return false }
        lookedAt = now
        let new = paths.map { Stamp(of: $0) }
        defer { stamps = new }
        return stamps.map { $0 != new } ?? false
    }

    /// The first that is a pipe, which would block the loop, and could be read only once.
    var pipe: FilePath? {
        paths.first { path in
            var status = stat()
            guard path.withPlatformString({ stat($0, &status) }) == 0 else { return false }
            return status.st_mode & S_IFMT == S_IFIFO || status.st_mode & S_IFMT == S_IFSOCK
        }
    }
}

extension CurlTransport.Configuration {
    /// The same with absolute paths of these files: the working directory may change before they are read.
    var withAbsoluteFiles: Self {
        var configuration = self
        if case .authorities(let file) = trust { configuration.trust = .authorities(file.absolute) }
        if let identity { configuration.identity = identity.absolute }
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

extension FilePath {
    fileprivate var absolute: FilePath {
        guard isRelative, let directory = getcwd(nil, 0) else { return self }
        defer { free(directory) }
        return FilePath(platformString: directory).pushing(self)
    }
}
