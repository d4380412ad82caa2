// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

extension CurlTransport {
    /// Which certificates are believed. Except with the last, the server's name is always checked.
    public enum Trust: Sendable, Hashable {
        /// The system's authorities.
        case system
        /// The authorities in this file (PEM), and no others. A file that has changed is read again within five minutes.
        case authorities(FilePath)
        /// Any certificate, by whomever it was made and for whatever host: whoever sits between this host and the server
        /// can read and change everything. For tests. Pinned keys are checked all the same, and the transport warns once
        /// (``Configuration/warn``).
        case dangerouslyAcceptAnyCertificate
    }

    /// A version of TLS.
    public enum TLSVersion: Sendable, Hashable {
        /// RFC 5246.
        case tls12
        /// RFC 8446.
        case tls13
    }

    /// A certificate with its key, by which the client says who it is.
    public struct ClientIdentity: Sendable {
        enum Form: Sendable {
            /// Two files in PEM.
            case pem(certificate: FilePath, key: FilePath)
            /// Both in one file (RFC 7292).
            case pkcs12(FilePath)
        }

        let form: Form
        let password: @Sendable () -> String?

        /// A certificate, with those between it and its authority behind it, and its key, each in a file (PEM).
        ///
        /// - Parameters:
        ///   - certificate: The file with the certificates.
        ///   - key: The file with the key.
        ///   - password: Opens the key, if it is encrypted. Asked for once, when a transport is made.
        public init(
            certificate: FilePath, key: FilePath, password: @autoclosure @escaping @Sendable () -> String? = nil
        ) {
            form = .pem(certificate: certificate, key: key)
            self.password = password
        }

        /// A file with both (PKCS #12).
        ///
        /// - Parameters:
        ///   - file: The file.
        ///   - password: Opens the file. Asked for once, when a transport is made.
        public init(pkcs12 file: FilePath, password: @autoclosure @escaping @Sendable () -> String? = nil) {
            form = .pkcs12(file)
            self.password = password
        }
    }
}
