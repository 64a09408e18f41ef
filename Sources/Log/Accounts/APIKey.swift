internal import CCrypto
package import Postgres
internal import ServiceRuntime
package import Values

/// A key that gives access to an app. Only its hash is stored; the secret is shown once.
package struct APIKey: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// Ships inside an app and can only post events.
        case write
        /// Stays on a server. It registers categories, sends and goals, and has installs erased.
        case server
    }

    package let id: Int32
    package let name: String
    package let kind: Kind
    package let createdAt: Timestamp
    package let revokedAt: Timestamp?
}

/// The keys of apps, as the owner sees them.
package enum APIKeys {
    /// Creates a key and returns its secret, which cannot be read again. Without a name it gets the next free one.
    package static func add(
        to slug: String, kind: APIKey.Kind, name: String?, on connection: inout Connection
    ) throws(AppError) -> (key: APIKey, secret: String) {
        let app = try Apps.named(slug, on: &connection)
        if let name { try check(name) }
        let secret = makeSecret(prefix: kind == .write ? "bww_" : "bws_")
        let erasure = kind == .server ? Bytea(SHA256(of: erasureProof(of: secret).bytes).bytes) : nil
        do {
            // Two sessions may ask for the next free name at once: the second one tries again.
            while true {
                let chosen = try name ?? nextName(kind, of: app, on: &connection)
                let rows = try connection.query(
                    """
                    WITH held AS MATERIALIZED (SELECT id FROM log.app WHERE id = \(app.id) FOR UPDATE)
                    INSERT INTO log.api_key (app, name, kind, hash, erasure_hash)
                    SELECT held.id, \(chosen), \(kind.rawValue), \(Bytea(SHA256(of: secret.utf8).bytes)), \(erasure)
                        FROM held
                    ON CONFLICT (app, name) DO NOTHING
                    RETURNING id, name, kind, created_at, revoked_at
                    """)
                if let row = rows.first { return (try APIKey(row), secret) }
                if name != nil { throw AppError.keyExists(app: slug, name: chosen) }
            }
        } catch { throw AppError(error) }
    }

    /// The keys of an app, oldest first.
    package static func list(of slug: String, on connection: inout Connection) throws(AppError) -> [APIKey] {
        let app = try Apps.named(slug, on: &connection)
        do {
            var keys: [APIKey] = []
            let rows = try connection.query(
                "SELECT id, name, kind, created_at, revoked_at FROM log.api_key WHERE app = \(app.id) ORDER BY id")
            for row in rows { keys.append(try APIKey(row)) }
            return keys
        } catch { throw AppError(error) }
    }

    /// Closes a key for good. When this returns, no writer stores anything more that was sent with it.
    package static func revoke(
        name: String, of slug: String, on connection: inout Connection
    ) throws(AppError) {
        let app = try Apps.named(slug, on: &connection)
        do {
            let rows = try connection.query(
                "SELECT revoked_at IS NOT NULL FROM log.api_key WHERE app = \(app.id) AND name = \(name)")
            guard let row = rows.first else { throw AppError.unknownKey(app: slug, name: name) }
            guard try row.get(0) == false else { throw AppError.alreadyRevoked(app: slug, name: name) }
            _ = try connection.transaction { connection throws(PostgresError) in
                try connection.query(
                    "UPDATE log.api_key SET revoked_at = now() WHERE app = \(app.id) AND name = \(name)")
            }
        } catch { throw AppError(error) }
    }

    /// Shows the log that the caller has this server key, and is worth nothing for anything else: so it may be seen in
    /// PostgreSQL's log. The log keeps its hash.
    package static func erasureProof(of secret: String) -> SHA256 { SHA256(of: "erase \(secret)".utf8) }

    private static func nextName(
        _ kind: APIKey.Kind, of app: App, on connection: inout Connection
    ) throws(PostgresError) -> String {
        var taken: Set<String> = []
        for row in try connection.query("SELECT name FROM log.api_key WHERE app = \(app.id)") {
            taken.insert(try row.get(0))
        }
        var number = 1
        while true {
            let name = number == 1 ? kind.rawValue : "\(kind.rawValue)-\(number)"
            if !taken.contains(name) { return name }
            number += 1
        }
    }

    private static func check(_ name: String) throws(AppError) {
        // If a terminal cannot show a name as it is, nobody can type it to revoke the key.
        guard isName(name) else { throw .invalidKeyName(name) }
    }

    static func isName(_ name: String) -> Bool {
        (1...64).contains(name.unicodeScalars.count) && String(printable: name) == name
    }

    /// 256 bits from the system's generator. The prefix shows people, and scanners for leaked secrets, what it is.
    static func makeSecret(prefix: String) -> String {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let random = (0..<43).map { _ in alphabet[Int(generator.next() & 63)] }
        return prefix + String(random)
    }
}

extension APIKey {
    fileprivate init(_ row: Rows.Row) throws(PostgresError) {
        id = try row.get(0)
        name = try row.get(1)
        kind = Kind(rawValue: try row.get(2)) ?? .write
        createdAt = try row.get(3)
        revokedAt = try row.optional(4)
    }
}

/// A SHA-256 digest.
package struct SHA256: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(of data: some Sequence<UInt8>) {
        let data = Array(data)
        var digest = [UInt8](repeating: 0, count: 32)
        let done = unsafe EVP_Digest(data, data.count, &digest, nil, EVP_sha256(), nil)
        precondition(done == 1, "libcrypto refused to compute SHA-256")
        bytes = digest
    }

    /// A stored digest; nil if it has another length.
    package init?(stored bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Says that whoever has the key wrote the message (HMAC, RFC 2104).
    package static func authentication(of message: some Sequence<UInt8>, key: SHA256) -> SHA256 {
        authentication(of: message, key: key.bytes)
    }

    /// With a key of any length.
    package static func authentication(of message: some Sequence<UInt8>, key: [UInt8]) -> SHA256 {
        let short = key.count > 64 ? SHA256(of: key).bytes : key
        let padded = short + [UInt8](repeating: 0, count: 64 - short.count)
        let inner = padded.map { $0 ^ 0x36 } + Array(message)
        return SHA256(of: padded.map { $0 ^ 0x5C } + SHA256(of: inner).bytes)
    }

    /// Takes the same time wherever they differ.
    package func equalsInConstantTime(_ other: SHA256) -> Bool {
        unsafe CRYPTO_memcmp(bytes, other.bytes, 32) == 0
    }
}
