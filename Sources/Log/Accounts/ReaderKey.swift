package import Postgres
internal import ServiceRuntime
package import Values

/// A key with which somebody opens the pages of `bellwether look`. Only its hash is stored; the secret is shown once.
package struct ReaderKey: Sendable, Equatable {
    package let name: String
    /// The apps that it reads; nil for all.
    package let apps: [String]?
    package let createdAt: Timestamp
    package let revokedAt: Timestamp?
    /// To some minutes, and as far as this database was asked.
    package let lastUsedAt: Timestamp?

    /// What is needed to recognise an open one.
    package struct Access: Sendable {
        package let name: String
        package let hash: SHA256
        /// The apps that it reads; nil for all.
        package let apps: [String]?

        package init(name: String, hash: SHA256, apps: [String]? = nil) {
            (self.name, self.hash, self.apps) = (name, hash, apps)
        }
    }
}

/// Why something cannot be done with a reader key, for the person who asked.
package enum ReaderKeyError: DatabaseFailure, Sendable, CustomStringConvertible {
    case invalidName(String)
    case exists(String)
    case unknownApp(AppError)
    case tooManyApps
    case tooMany
    case unknown(String)
    case alreadyRevoked(String)
    case database(PostgresError)

    fileprivate init(_ error: any Error) {
        switch error {
        case let error as ReaderKeyError: self = error
        case let error as AppError: self = error.ofDatabase.map { .database($0) } ?? .unknownApp(error)
        case let error as PostgresError: self = .database(error)
        default: self = .database(.decoding("\(error)"))
        }
    }

    package var ofDatabase: PostgresError? { if case .database(let error) = self { error } else { nil } }

    package var description: String {
        switch self {
        case .invalidName(let name):
            "'\(String(printable: name))' cannot name a key: use 1 to 64 printable characters"
        case .unknownApp(let error): error.description
        case .tooManyApps: "a key is for \(ReaderKeys.mostApps) apps at most, or for all"
        case .exists(let name): "there is, or was, a reader key '\(name)': choose another name"
        case .tooMany: "there are \(ReaderKeys.most) open reader keys, and no more are allowed: revoke some"
        case .unknown(let name): "there is no reader key '\(String(printable: name))': see bellwether look key list"
        case .alreadyRevoked(let name): "the reader key '\(name)' has already been revoked"
        case .database(let error): error.description
        }
    }
}

/// The reader keys.
package enum ReaderKeys {
    /// Each process that serves pages keeps the open ones in memory.
    static let most = 1000
    static let mostApps = 1000

    /// Creates a key for these apps, or for all, and returns its secret, which cannot be read again.
    package static func add(
        name: String, apps: [String]? = nil, on connection: inout Connection
    ) throws(ReaderKeyError) -> (key: ReaderKey, secret: String) {
        guard APIKeys.isName(name) else { throw .invalidName(name) }
        let secret = APIKeys.makeSecret(prefix: "bwr_")
        let apps = apps.map { Set($0).sorted() }
        guard apps?.count ?? 0 <= mostApps else { throw .tooManyApps }
        do {
            try Apps.require(apps ?? [], on: &connection)
            let open: Int64 = try connection.query("SELECT count(*) FROM log.reader_key WHERE revoked_at IS NULL")[0]
                .get(0)
            guard open < Int64(most) else { throw ReaderKeyError.tooMany }
            let rows = try connection.query(
                """
                INSERT INTO log.reader_key (name, hash, apps)
                VALUES (\(name), \(Bytea(SHA256(of: secret.utf8).bytes)), \(apps))
                ON CONFLICT (name) DO NOTHING RETURNING name, apps, created_at, revoked_at, NULL::timestamptz
                """)
            guard let row = rows.first else { throw ReaderKeyError.exists(name) }
            return (try ReaderKey(row), secret)
        } catch { throw ReaderKeyError(error) }
    }

    /// All of them, oldest first.
    package static func list(on connection: inout Connection) throws(PostgresError) -> [ReaderKey] {
        var keys: [ReaderKey] = []
        let rows = try connection.query(
            """
            SELECT k.name, k.apps, k.created_at, k.revoked_at, u.last_used_at
            FROM log.reader_key AS k LEFT JOIN log.reader_use AS u ON u.name = k.name ORDER BY k.created_at, k.name
            """)
        for row in rows { keys.append(try ReaderKey(row)) }
        return keys
    }

    /// Closes a key for good. Within seconds no process shows a page to whoever signed in with it.
    package static func revoke(name: String, on connection: inout Connection) throws(ReaderKeyError) {
        do {
            let changed = try connection.query(
                "UPDATE log.reader_key SET revoked_at = now() WHERE name = \(name) AND revoked_at IS NULL"
            ).affected
            guard changed == 0 else { return }
            let isThere = try !connection.query("SELECT FROM log.reader_key WHERE name = \(name)").isEmpty
            throw isThere ? ReaderKeyError.alreadyRevoked(name) : .unknown(name)
        } catch { throw ReaderKeyError(error) }
    }

    /// The keys that open pages now.
    package static func open(on connection: inout Connection) throws(PostgresError) -> [ReaderKey.Access] {
        var keys: [ReaderKey.Access] = []
        for row in try connection.query(
            "SELECT name, hash, apps FROM log.reader_key WHERE revoked_at IS NULL ORDER BY name")
        {
            guard let hash = SHA256(stored: try row.get(1, as: Bytea.self).bytes) else { continue }
            keys.append(ReaderKey.Access(name: try row.get(0), hash: hash, apps: try row.optional(2)))
        }
        return keys
    }

    /// Records that these keys are in use.
    package static func noteUse(of names: [String], on connection: inout Connection) throws(PostgresError) {
        try connection.query("SELECT log.note_reader_use(\(names))")
    }
}

extension ReaderKey {
    fileprivate init(_ row: Rows.Row) throws(PostgresError) {
        (name, apps, createdAt) = (try row.get(0), try row.optional(1), try row.get(2))
        (revokedAt, lastUsedAt) = (try row.optional(3), try row.optional(4))
    }
}
