internal import Accounts
internal import HTTPServer

/// Whose key a request has, and whether it is of a kind that its route takes.
enum KeyCheck {
    /// The key itself, before anybody knows whether it is one.
    static func secret(of head: RequestHead, for demands: Demands) throws(Problem) -> String {
        let blank = UInt8(ascii: " ")
        if let field = head.header("Authorization")?[...].trimmed, let space = field.utf8.firstIndex(of: blank) {
            let scheme = field[..<space]
            let secret = field.utf8[space...].drop { $0 == blank }
            if scheme == "Bearer" || scheme.lowercased() == "bearer", !secret.isEmpty, !secret.contains(blank) {
                return String(Substring(secret))
            }
        }
        throw Problem(
            .missingKey, "Send 'Authorization: Bearer <\(demands.keys[0].rawValue) key>'.",
            headers: [("WWW-Authenticate", "Bearer")])
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
}
