internal import CServerSockets
internal import Glibc

/// A certificate with its private key, and the settings of every TLS connection that uses it.
@safe final class TLSIdentity: @unchecked Sendable {
    // SAFETY: OpenSSL counts references to a context. Nothing changes the context after `init`.
    private let handle: OpaquePointer

    /// When clients begin to refuse the certificate, in seconds since 1970; nil if it does not say.
    let expiry: Int?

    /// Throws if the files are unreadable, are not PEM, or do not belong together.
    init(_ files: HTTPServerConfiguration.TLS) throws(HTTPServerError) {
        try TLSIdentity.checkReadable(files.certificate, what: "certificate")
        try TLSIdentity.checkReadable(files.privateKey, what: "private key")
        ERR_clear_error()
        guard let handle = unsafe bellwether_tls_context() else {
            throw .cannotStart(reason: "OpenSSL cannot create a context: \(TLSIdentity.lastComplaint)")
        }
        unsafe self.handle = handle
        guard unsafe SSL_CTX_use_certificate_chain_file(handle, files.certificate) == 1,
            unsafe SSL_CTX_use_PrivateKey_file(handle, files.privateKey, SSL_FILETYPE_PEM) == 1,
            unsafe SSL_CTX_check_private_key(handle) == 1
        else {
            throw .tlsRefused(
                certificate: files.certificate, privateKey: files.privateKey, reason: TLSIdentity.lastComplaint)
        }
        expiry = unsafe TLSIdentity.expiry(of: SSL_CTX_get0_certificate(handle))
    }

    private static func expiry(of certificate: OpaquePointer?) -> Int? {
        var date = unsafe tm()
        guard let certificate = unsafe certificate, let time = unsafe X509_get0_notAfter(certificate),
            unsafe ASN1_TIME_to_tm(time, &date) == 1
        else { return nil }
        return unsafe timegm(&date)
    }

    deinit { unsafe SSL_CTX_free(handle) }

    /// A session for one connection; nil if there is no memory for it.
    func session(on descriptor: Int32) -> TLSSession? {
        guard let session = unsafe SSL_new(handle) else { return nil }
        guard unsafe SSL_set_fd(session, descriptor) == 1 else {
            unsafe SSL_free(session)
            return nil
        }
        return unsafe TLSSession(session)
    }

    private static func checkReadable(_ path: String, what: String) throws(HTTPServerError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        var byte: UInt8 = 0
        guard descriptor >= 0, unsafe read(descriptor, &byte, 1) >= 0 else {
            let reason = SystemError.last.description
            if descriptor >= 0 { close(descriptor) }
            throw .unreadable(path: path, what: what, reason: reason)
        }
        close(descriptor)
    }

    private static var lastComplaint: String {
        let code = ERR_peek_last_error()
        guard code != 0, let text = unsafe ERR_reason_error_string(code) else { return "OpenSSL does not accept them" }
        return unsafe String(cString: text)
    }
}

/// TLS on one connection. Used by one thread.
@safe final class TLSSession {
    // SAFETY: created for this object alone, and freed with it.
    private let handle: OpaquePointer
    private var isBroken = false

    init(_ handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit { unsafe SSL_free(handle) }

    func accept() -> Transfer {
        // Clear errors that another connection left on this thread.
        ERR_clear_error()
        let result = unsafe SSL_accept(handle)
        return result == 1 ? .bytes(0) : transfer(result)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        ERR_clear_error()
        let count = unsafe SSL_read(handle, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .bytes(Int(count)) : transfer(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        ERR_clear_error()
        let count = unsafe SSL_write(handle, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .bytes(Int(count)) : transfer(count)
    }

    /// Tells the client that no more data will come, if that is possible at once.
    func close() {
        guard !isBroken, unsafe SSL_is_init_finished(handle) == 1 else { return }
        ERR_clear_error()
        _ = unsafe SSL_shutdown(handle)
    }

    private func transfer(_ result: Int32) -> Transfer {
        switch unsafe SSL_get_error(handle, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .notNow
        case SSL_ERROR_ZERO_RETURN: return .ended
        default:
            isBroken = true
            return .failed
        }
    }
}
