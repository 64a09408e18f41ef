/// Why the server cannot start.
package enum HTTPServerError: Error, Hashable, CustomStringConvertible {
    case addressInUse(address: String)
    case addressNotAllowed(address: String)
    case addressUnknown(address: String, reason: String)
    case cannotListen(address: String, reason: String)
    case notASocket(path: String)
    case pathTooLong(path: String, limit: Int)
    case unreadable(path: String, what: String, reason: String)
    case tlsRefused(certificate: String, privateKey: String, reason: String)
    case cannotStart(reason: String)

    package var description: String {
        switch self {
        case .addressInUse(let address):
            "\(address) is in use: another server listens there. Stop it, or listen elsewhere."
        case .addressNotAllowed(let address):
            "Listening on \(address) is not permitted: choose a port of 1024 or higher, or a path this user may write."
        case .addressUnknown(let address, let reason):
            "Cannot listen on \(address): \(reason). Give an address of this machine."
        case .cannotListen(let address, let reason): "Cannot listen on \(address): \(reason)."
        case .notASocket(let path):
            "Cannot listen on \(path): a file that is not a socket is in the way. Move it, or choose another path."
        case .pathTooLong(let path, let limit):
            "Cannot listen on \(path): the path of a Unix socket has at most \(limit) bytes."
        case .unreadable(let path, let what, let reason): "Cannot read the \(what) \(path): \(reason)."
        case .tlsRefused(let certificate, let privateKey, let reason):
            "The certificate \(certificate) and the private key \(privateKey) cannot be used: \(reason). Both must be "
                + "PEM, belong together, and the key must have no passphrase."
        case .cannotStart(let reason): "The HTTP server cannot start: \(reason)."
        }
    }
}
