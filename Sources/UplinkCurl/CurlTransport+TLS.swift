// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

extension CurlTransport {
    /// Which certificates are trusted. Except with the last case, the server's name is always checked.
    public enum Trust: Sendable, Hashable {
        /// The system's authorities.
        case system
        /// Only the authorities in this file (PEM). Within a second of a change, new requests use new connections that
        /// the new authorities have verified.
        case authorities(FilePath)
        /// Any certificate, whoever issued it and for whatever host: anyone between this host and the server can read
        /// and change everything. For tests. Pinned keys are still checked, and the transport warns once
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

    /// A certificate with its key, with which the client identifies itself.
    ///
    /// The files are read for each connection. A second after one has changed at the latest, new requests use new
    /// connections, with the new certificate; replace certificate and key so that they belong together. A new key has
    /// to have the same password, or none.
    public struct ClientIdentity: Sendable {
        enum Form: Sendable {
            /// Two files in PEM.
            case pem(certificate: FilePath, key: FilePath)
            /// Both in one file (RFC 7292).
            case pkcs12(FilePath)
        }

        let form: Form
        let password: @Sendable () -> String?

        /// Creates an identity from two files (PEM): one with the certificate, followed by those between it and its
        /// authority, and one with its key.
        ///
        /// - Parameters:
        ///   - certificate: The file with the certificates.
        ///   - key: The file with the key.
        ///   - password: Opens the key, if it is encrypted. Evaluated once, when a transport is created.
        public init(
            certificate: FilePath, key: FilePath, password: @autoclosure @escaping @Sendable () -> String? = nil
        ) {
            form = .pem(certificate: certificate, key: key)
            self.password = password
        }

        /// Creates an identity from one file with both (PKCS #12).
        ///
        /// - Parameters:
        ///   - file: The file.
        ///   - password: Opens the file. Evaluated once, when a transport is created.
        public init(pkcs12 file: FilePath, password: @autoclosure @escaping @Sendable () -> String? = nil) {
            form = .pkcs12(file)
            self.password = password
        }
    }
}
