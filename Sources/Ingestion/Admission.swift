internal import Compression
internal import EventLog
internal import HTTPServer
internal import Telemetry

/// What every route with a key asks first: whose key it is, whether it is of the right kind, whether the body is JSON,
/// and what is in it. Refuses in this order.
struct Admission: Sendable {
    let keys: KeyDirectory
    /// The kind of key that opens the door, and the answer to one of another kind.
    let kind: APIKey.Kind
    let wrongKind: String
    /// Bytes of a body that was packed.
    let unpackedLimit: Int
    let isDraining: @Sendable () -> Bool

    /// Bytes of a body on the wire.
    static let wireLimit = 1024 * 1024

    /// Hands over the unpacked body and who sent it; answers all that may not come in.
    func admit(
        _ head: RequestHead, _ answer: Answer, then receive: @escaping @Sendable ([UInt8], Access) -> Void
    ) {
        guard let secret = bearer(head.header("Authorization")) else {
            return answer.send(
                Problem(
                    .missingKey, "Send 'Authorization: Bearer <\(kind.rawValue) key>'.",
                    headers: [("WWW-Authenticate", "Bearer")]))
        }
        keys.find(secret) { [self] found in
            switch found {
            case .unavailable: answer.send(Problem(.unavailable, "The key cannot be checked now.", retryAfter: 2))
            case .unknown:
                answer.send(
                    Problem(
                        .unknownKey, "No app has this key. Keys are made with 'bellwether app key add'.",
                        headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")]))
            case .access(let access) where access.isRevoked:
                answer.send(Problem(.revokedKey, "This key was closed. Use another one."))
            case .access(let access) where access.kind != kind:
                answer.send(Problem(.wrongKeyKind, wrongKind))
            case .access(let access): read(head, answer) { body in receive(body, access) }
            }
        }
    }

    private func read(_ head: RequestHead, _ answer: Answer, then receive: @escaping @Sendable ([UInt8]) -> Void) {
        guard isJSON(head.header("Content-Type")) else {
            return answer.send(Problem(.unsupportedMediaType, "Send 'Content-Type: application/json'."))
        }
        guard let coding = ContentCoding(head.header("Content-Encoding")) else {
            return answer.send(
                Problem(.unsupportedEncoding, "Send the body as it is, or with 'Content-Encoding: gzip'."))
        }
        answer.readBody(upTo: Self.wireLimit) { wire in
            guard !isDraining() else { return answer.send(Problem(RequestFault.draining)) }
            switch coding {
            case .identity:
                guard wire.count <= unpackedLimit else { return answer.send(tooLarge) }
                receive(wire)
            case .gzip:
                do throws(GunzipError) { receive(try gunzip(wire, limit: unpackedLimit)) } catch {
                    switch error {
                    case .tooLarge: answer.send(tooLarge)
                    default: answer.send(Problem(.notUnpackable, "\(error)"))
                    }
                }
            }
        }
    }

    private var tooLarge: Problem { Problem(.unpackedTooLarge, "At most \(unpackedLimit) bytes. Send less at a time.") }

    private func bearer(_ field: String?) -> String? {
        guard let field = field?.trimmed, let space = field.utf8.firstIndex(of: UInt8(ascii: " ")),
            field[..<space].lowercased() == "bearer"
        else { return nil }
        let secret = field[space...].drop { $0 == " " }
        return secret.isEmpty || secret.utf8.contains(UInt8(ascii: " ")) ? nil : String(secret)
    }

    private func isJSON(_ field: String?) -> Bool {
        guard let field else { return false }
        if field == "application/json" { return true }
        let parts = field.split(separator: ";").map { $0.trimmed.lowercased() }
        guard parts.first == "application/json" else { return false }
        return parts.dropFirst().allSatisfy { part in
            !part.hasPrefix("charset=") || ["charset=utf-8", "charset=\"utf-8\"", "charset=utf8"].contains(part)
        }
    }
}

/// How a body is packed.
private enum ContentCoding {
    case identity, gzip

    /// Nil for a coding that we do not know.
    init?(_ field: String?) {
        guard let field else {
            self = .identity
            return
        }
        switch field.trimmed.lowercased() {
        case "", "identity": self = .identity
        case "gzip", "x-gzip": self = .gzip
        default: return nil
        }
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
