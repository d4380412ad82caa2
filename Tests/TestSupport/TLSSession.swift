// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// What a server of TLS knows of itself: its certificate and its settings.
final class TLSContext: Sendable {
    // Used by several threads at once, which OpenSSL allows once it is set up.
    fileprivate nonisolated(unsafe) let pointer: UnsafeMutableRawPointer
    fileprivate let library: OpenSSL

    init(certificate: FilePath, key: FilePath, _ largestRecord: Int, tickets: Int) throws {
        guard let library = OpenSSL(), let pointer = library.newContext(library.serverMethod()) else {
            throw SetupFailure(activity: "finding OpenSSL, which libcurl brings along", errno: 0)
        }
        (self.library, self.pointer) = (library, pointer)
        let (setMaximumSendFragment, formPEM): (CInt, CInt) = (52, 1)
        guard library.useCertificate(pointer, certificate.string) == 1,
            library.useKey(pointer, key.string, formPEM) == 1,
            library.control(pointer, setMaximumSendFragment, largestRecord, nil) == 1,
            library.setTickets(pointer, tickets) == 1
        else { throw SetupFailure(activity: "setting up OpenSSL with \(certificate)", errno: 0) }
    }

    deinit { library.freeContext(pointer) }
}

/// The server's side of one connection of TLS, without a socket. For one thread.
final class TLSSession {
    private let context: TLSContext
    private let session: UnsafeMutableRawPointer?
    /// What the client has sent, and what is to be sent to it.
    private let (incoming, pending): (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?)
    private var library: OpenSSL { context.library }

    init(_ context: TLSContext) {
        self.context = context
        let library = context.library
        session = library.newSession(context.pointer)
        (incoming, pending) = (library.newStream(library.memory()), library.newStream(library.memory()))
        library.setStreams(session, incoming, pending)  // which it frees with itself
        library.setAcceptState(session)
    }

    deinit { library.freeSession(session) }

    /// Takes what the client has sent, and hands on what is in it. False at the end, or when the client is refused.
    func take(_ bytes: ArraySlice<UInt8>, _ handOn: ([UInt8]) -> Void) -> Bool {
        _ = bytes.withUnsafeBytes { library.write(incoming, $0.baseAddress, CInt($0.count)) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = library.readText(session, &buffer, CInt(buffer.count))
            guard count > 0 else {
                let wantsMore: CInt = 2
                return library.error(session, count) == wantsMore
            }
            handOn(Array(buffer[..<Int(count)]))
        }
    }

    /// Encrypts what the client is to get.
    func give(_ bytes: ArraySlice<UInt8>) {
        _ = bytes.withUnsafeBytes { library.writeText(session, $0.baseAddress, CInt($0.count)) }
    }

    /// Has a ticket sent with what is given next.
    func addTicket() { _ = library.addTicket(session) }

    /// Says that there is no more.
    func end() { _ = library.shutDown(session) }

    /// What is to be sent to the client now.
    var outgoing: [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = library.read(pending, &buffer, CInt(buffer.count))
            guard count > 0 else { return bytes }
            bytes += buffer[..<Int(count)]
        }
    }
}

/// The functions of OpenSSL that are needed here. libcurl has loaded it, and this package links to none of its own.
private struct OpenSSL: Sendable {
    typealias Pointer = UnsafeMutableRawPointer?
    typealias Text = UnsafePointer<CChar>
    let serverMethod: @convention(c) @Sendable () -> Pointer
    let newContext: @convention(c) @Sendable (Pointer) -> Pointer
    let freeContext: @convention(c) @Sendable (Pointer) -> Void
    let useCertificate: @convention(c) @Sendable (Pointer, Text) -> CInt
    let useKey: @convention(c) @Sendable (Pointer, Text, CInt) -> CInt
    let control: @convention(c) @Sendable (Pointer, CInt, CLong, Pointer) -> CLong
    let setTickets: @convention(c) @Sendable (Pointer, Int) -> CInt
    let addTicket: @convention(c) @Sendable (Pointer) -> CInt
    let newSession: @convention(c) @Sendable (Pointer) -> Pointer
    let freeSession: @convention(c) @Sendable (Pointer) -> Void
    let setStreams: @convention(c) @Sendable (Pointer, Pointer, Pointer) -> Void
    let setAcceptState: @convention(c) @Sendable (Pointer) -> Void
    let readText: @convention(c) @Sendable (Pointer, Pointer, CInt) -> CInt
    let writeText: @convention(c) @Sendable (Pointer, UnsafeRawPointer?, CInt) -> CInt
    let error: @convention(c) @Sendable (Pointer, CInt) -> CInt
    let shutDown: @convention(c) @Sendable (Pointer) -> CInt
    let memory: @convention(c) @Sendable () -> Pointer
    let newStream: @convention(c) @Sendable (Pointer) -> Pointer
    let read: @convention(c) @Sendable (Pointer, Pointer, CInt) -> CInt
    let write: @convention(c) @Sendable (Pointer, UnsafeRawPointer?, CInt) -> CInt

    /// Nil if the process has no OpenSSL.
    init?() {
        let names = [
            "TLS_server_method", "SSL_CTX_new", "SSL_CTX_free", "SSL_CTX_use_certificate_chain_file",
            "SSL_CTX_use_PrivateKey_file", "SSL_CTX_ctrl", "SSL_new", "SSL_free", "SSL_set_bio",
            "SSL_set_accept_state", "SSL_read", "SSL_write", "SSL_get_error", "SSL_shutdown", "BIO_s_mem", "BIO_new",
            "BIO_read", "BIO_write", "SSL_CTX_set_num_tickets",
            "SSL_new_session_ticket",
        ]
        let found = names.compactMap { dlsym(nil, $0) }
        guard found.count == names.count else { return nil }
        func function<Function>(_ place: Int) -> Function { unsafeBitCast(found[place], to: Function.self) }
        (serverMethod, newContext, freeContext) = (function(0), function(1), function(2))
        (useCertificate, useKey, control) = (function(3), function(4), function(5))
        (newSession, freeSession, setStreams) = (function(6), function(7), function(8))
        (setAcceptState, readText, writeText) = (function(9), function(10), function(11))
        (error, shutDown, memory) = (function(12), function(13), function(14))
        (newStream, read, write, setTickets) = (function(15), function(16), function(17), function(18))
        addTicket = function(19)
    }
}
