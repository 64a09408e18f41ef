internal import Accounts
internal import HTTPServer

/// Finds out whose key a request has, and whether it is of a kind that the route takes.
struct KeyCheck: Sendable {
    let keys: KeyDirectory
    /// The kinds that the route takes, the usual one first, and the answer to a key of another kind.
    let kinds: [APIKey.Kind]
    var wrongKind = ""

    /// Passes on the sender and the key itself. Answers every request that it refuses.
    func check(
        _ head: RequestHead, _ answer: Answer, then admit: @escaping @Sendable (Access, _ secret: String) -> Void
    ) {
        guard let secret = bearer(head.header("Authorization")) else {
            return answer.send(
                Problem(
                    .missingKey, "Send 'Authorization: Bearer <\(kinds[0].rawValue) key>'.",
                    headers: [("WWW-Authenticate", "Bearer")]))
        }
        keys.find(secret) { found in
            switch found {
            case .unavailable:
                answer.send(Problem(.unavailable, "The key cannot be checked at the moment.", retryAfter: 2))
            case .unknown:
                answer.send(
                    Problem(
                        .unknownKey, "No app has this key. To create one: bellwether app key add SLUG.",
                        headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")]))
            case .access(let access) where access.isRevoked: answer.send(.closedKey)
            case .access(let access) where !kinds.contains(access.kind):
                answer.send(Problem(.wrongKeyKind, wrongKind))
            case .access(let access): admit(access, secret)
            }
        }
    }

    private func bearer(_ field: String?) -> String? {
        guard let field = field?[...].trimmed, let space = field.utf8.firstIndex(of: UInt8(ascii: " ")) else {
            return nil
        }
        let scheme = field[..<space]
        guard scheme == "Bearer" || scheme.lowercased() == "bearer" else { return nil }
        let secret = field.utf8[space...].drop { $0 == UInt8(ascii: " ") }
        return secret.isEmpty || secret.contains(UInt8(ascii: " ")) ? nil : String(Substring(secret))
    }
}
