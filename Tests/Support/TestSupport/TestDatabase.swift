package import Accounts
package import Postgres
package import ServiceRuntime

/// A database of one test's own.
///
/// ```swift
/// let database = try TestDatabase.make()
/// defer { database.drop() }
/// ```
package struct TestDatabase: Sendable {
    package let name: String

    /// What a new database holds.
    package enum Content: Sendable {
        /// Nothing.
        case empty
        /// Everything that the migrations make, with few shards.
        case migrated
        /// The same with as many shards as a database has that nobody asks for another number.
        case withUsualShards
        /// What another one holds, which nobody may be connected to.
        case copy(of: TestDatabase)
    }

    /// How many shards most have: the fewest there can be, since most tests have few events, and many do something with
    /// every shard.
    package static let shards: Int16 = 4

    private static let serial = Lock(0)

    /// Seconds. A connection may serve a test to its end, beside all other tests.
    private static let patience = 900.0

    /// Makes one.
    package static func make(_ content: Content = .migrated) throws -> TestDatabase {
        let number = serial.withLock { serial in
            serial += 1
            return serial
        }
        let database = TestDatabase(name: "test_\(number)")
        let template =
            switch content {
            case .empty: "template0"
            case .migrated: TestPostgres.template
            case .withUsualShards: try TestPostgres.usualTemplate.get()
            case .copy(let other): other.name
            }
        LentConnection.endAll(of: "\(template) ")
        // Copied file by file, not through the log: less than half the work for databases this small.
        try TestPostgres.administering { administrator in
            try administrator.execute(
                script: """
                    CREATE DATABASE \(database.name) OWNER \(TestPostgres.owner) TEMPLATE \(template) STRATEGY file_copy
                    """)
        }
        return database
    }

    /// Takes it away, whoever is still connected.
    package func drop() {
        LentConnection.endAll(of: "\(name) ")
        try? TestPostgres.administering { administrator in
            try administrator.execute(script: "DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
        }
    }

    /// Answers nobody any more, as a server does that is away.
    package func close() throws {
        // A superuser of another database, who is not cut off with the others.
        try TestPostgres.administering { administrator in
            try administrator.execute(script: "ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
            try administrator.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = \(name)")
        }
    }

    package func open() throws {
        try TestPostgres.administering { administrator in
            try administrator.execute(script: "ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
        }
    }

    /// A libpq URL for the owner, or for somebody else.
    package func url(as user: String = TestPostgres.owner) throws -> String {
        try TestPostgres.url(database: name, user: user)
    }

    /// A plain connection whose calls all end while it has `patience`.
    package func connect(as user: String = TestPostgres.owner, log: Log = .silent) throws -> Connection {
        var connection = try Connection(url: try url(as: user), log: log)
        connection.deadline = .after(seconds: Self.patience)
        return connection
    }

    /// A connection of the superuser, for what nobody else may do.
    package func administrator() throws -> Connection { try TestPostgres.administrator(of: name) }

    /// A connection such as the program makes for the work of a role.
    package func session(_ role: LogSession.Role?) throws -> Connection {
        var connection = try LogSession.open(url: try url(), role: role, purpose: "tests", log: .silent)
        connection.deadline = .after(seconds: Self.patience)
        return connection
    }

    /// Runs statements as the owner.
    package func run(_ script: String) throws {
        try asking { connection in
            try connection.execute(script: script)
            try connection.execute(script: "DISCARD ALL")
        }
    }

    /// Asks something that leaves nothing behind in the session.
    private func asking<Answer>(
        as user: String = TestPostgres.owner, _ question: (inout Connection) throws -> Answer
    ) throws -> Answer {
        try LentConnection.lend("\(name) \(user)", within: Self.patience, try connect(as: user), to: question)
    }

    /// Lends a session of a role, or of the owner, to what leaves nothing behind in it.
    package func lending<Answer>(
        _ role: LogSession.Role?, to work: (inout Connection) throws -> Answer
    ) throws -> Answer {
        try LentConnection.lend(
            "\(name) as \(role?.rawValue ?? "owner")", within: Self.patience, try session(role), to: work)
    }

    /// The rows of a query that an analyst runs, each as PostgreSQL writes a row: `(chat,2026-11-20,"",3,)`.
    package func analystRows(_ query: String) throws -> [String] {
        // Given as a text: the SQL is put together here, and nothing of it is a parameter.
        let rows: String = "SELECT row::text FROM (\(query)) AS row"
        return try asking(as: TestPostgres.analyst) { analyst in
            try analyst.query(Statement(rows, [])).map { try $0.get(0) }
        }
    }

    /// What stands in the first column of a query's rows.
    package func column<Value: PostgresValue>(_ query: Statement, of _: Value.Type = Value.self) throws -> [Value] {
        try asking { connection in
            var values: [Value] = []
            for row in try connection.query(query) { values.append(try row.get(0)) }
            return values
        }
    }

    /// Whether there come to be so many that wait for a lock.
    package func hasWaiters(_ count: Int) throws -> Bool {
        var watcher = try connect()
        return try eventually {
            try watcher.query(
                "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).count == count
        }
    }

    /// What stands in the one row and first column of a query.
    package func value<Value: PostgresValue>(_ query: Statement, as _: Value.Type = Value.self) throws -> Value {
        try asking { connection in try connection.query(query)[0].get(0) }
    }
}
