internal import CCrypto
package import Postgres
internal import ServiceRuntime
package import Values

/// A key that gives access to an app. Only its hash is stored; the secret is shown once.
package struct APIKey: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// Ships inside an app and can only post events.
        case write
        /// Stays on a server and can also register categories and sends.
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
        let secret = makeSecret(kind)
        do {
            // Two sessions may ask for the next free name at once: the second one tries again.
            while true {
                let chosen = try name ?? nextName(kind, of: app, on: &connection)
                let rows = try connection.query(
                    """
                    WITH held AS MATERIALIZED (SELECT id FROM log.app WHERE id = \(app.id) FOR UPDATE)
                    INSERT INTO log.api_key (app, name, kind, hash)
                    SELECT held.id, \(chosen), \(kind.rawValue), \(Bytea(SHA256(of: secret.utf8).bytes)) FROM held
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
        guard (1...64).contains(name.unicodeScalars.count), String(printable: name) == name else {
            throw .invalidKeyName(name)
        }
    }

    /// 256 bits from the system's generator. The prefix shows people, and scanners for leaked secrets, what it is.
    private static func makeSecret(_ kind: APIKey.Kind) -> String {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let random = (0..<43).map { _ in alphabet[Int(generator.next() & 63)] }
        return (kind == .write ? "bww_" : "bws_") + String(random)
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

    /// Takes the same time wherever they differ.
    package func equalsInConstantTime(_ other: SHA256) -> Bool {
        unsafe CRYPTO_memcmp(bytes, other.bytes, 32) == 0
    }
}
