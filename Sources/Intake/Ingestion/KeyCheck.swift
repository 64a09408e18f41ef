internal import Accounts
internal import HTTPServer

/// Whose key a request has, and whether it is of a kind that its route takes.
enum KeyCheck {
    /// The key itself, before anybody knows whether it is one.
    static func secret(of head: RequestHead, for demands: Demands) throws(Problem) -> String {
        guard let secret = bearer(head.header("Authorization")) else {
            throw Problem(
                .missingKey, "Send 'Authorization: Bearer <\(demands.keys[0].rawValue) key>'.",
                headers: [("WWW-Authenticate", "Bearer")])
        }
        return secret
    }

    static func access(_ found: KeyDirectory.Answer, for demands: Demands) throws(Problem) -> Access {
        switch found {
        case .unavailable:
            throw Problem(.unavailable, "The key cannot be checked at the moment.", retryAfter: 2)
        case .unknown:
            throw Problem(
                .unknownKey, "No app has this key. To create one: bellwether app key add SLUG.",
                headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
        case .access(let access):
            guard !access.isRevoked else { throw .closedKey }
            guard demands.keys.contains(access.kind) else { throw Problem(.wrongKeyKind, demands.wrongKind) }
            return access
        }
    }

    private static func bearer(_ field: String?) -> String? {
        guard let field = field?[...].trimmed, let space = field.utf8.firstIndex(of: UInt8(ascii: " ")) else {
            return nil
        }
        let scheme = field[..<space]
        guard scheme == "Bearer" || scheme.lowercased() == "bearer" else { return nil }
        let secret = field.utf8[space...].drop { $0 == UInt8(ascii: " ") }
        return secret.isEmpty || secret.contains(UInt8(ascii: " ")) ? nil : String(Substring(secret))
    }
}
