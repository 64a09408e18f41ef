internal import Accounts
package import Clusters
internal import Postgres
package import ServiceRuntime
package import Values

/// Lists everything that is held about an install: what `RemovalOfInstall` would remove now.
///
/// The log and the deliveries are read once each, as no index finds an install's rows. Rows come some at a time, so an
/// install with a million events needs no more memory than one with ten. Each database shows one moment.
package struct InstallAccess {
    private final class Source {
        let database: CellDatabase
        let app: Int32
        var connection: Connection

        init(_ database: CellDatabase, _ app: Int32, _ connection: consuming Connection) {
            (self.database, self.app) = (database, app)
            self.connection = connection
        }
    }

    private var sources: [Source] = []
    private let install: UUID

    /// `databases` are all that the cluster has, hubs among them. Throws if one of them cannot be read: a part of what
    /// is held would look like all of it.
    package init(_ databases: [CellDatabase], install: UUID, ofApp slug: String, log: Log) throws {
        self.install = install
        for database in databases where !database.isHub {
            do {
                var connection = try LogSession.open(url: database.url, role: nil, purpose: "access", log: log)
                let app = try Apps.named(slug, on: &connection).id
                try connection.execute(
                    script: """
                        BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE;
                        SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
                        SET LOCAL client_min_messages = warning; SET LOCAL enable_seqscan = on;
                        DROP TABLE IF EXISTS \(InstallHolding.heldEvents);
                        \(InstallHolding.makeHeldEvents(app: app, install: install))
                        """)
                sources.append(Source(database, app, connection))
            } catch { throw database.error(error) }
        }
    }

    /// The rows of one kind, in order, each as a JSON object without what is null. In a cluster, one cell after
    /// another.
    package func read(
        _ holding: InstallHolding, _ body: (_ cell: String?, _ rows: [String]) throws -> Void
    ) throws {
        for source in sources {
            do { try read(holding, source) { try body(source.database.name, $0) } } catch {
                throw source.database.error(error)
            }
        }
    }

    /// How many rows are fetched together. One may have some hundred KiB.
    private static let most = 100

    private func read(
        _ holding: InstallHolding, _ source: Source, _ body: ([String]) throws -> Void
    ) throws {
        try source.connection.execute(
            script: """
                DECLARE held NO SCROLL CURSOR FOR
                SELECT (jsonb_strip_nulls(h.json - 'extra') || CASE WHEN jsonb_typeof(h.json -> 'extra') = 'object'
                    THEN jsonb_build_object('extra', h.json -> 'extra') ELSE '{}' END)::text
                FROM (\(holding.rows(source.app, install))) AS h
                ORDER BY \(holding.order)
                """)
        let fetch: String = "FETCH \(Self.most) FROM held"
        while true {
            var rows: [String] = []
            for row in try source.connection.query(Statement(fetch)) { rows.append(try row.get(0)) }
            guard !rows.isEmpty else { break }
            try body(rows)
        }
        try source.connection.execute(script: "CLOSE held")
    }

    /// What stays beside what is listed, in sentences: that the install was erased, or that somebody has asked for it.
    package func remarks() throws -> [String] {
        var remarks: [String] = []
        for source in sources {
            for row in try source.connection.query(
                "SELECT erased_at FROM log.erasure WHERE app = \(source.app) AND install_id = \(install)")
            {
                let moment: Timestamp = try row.get(0)
                remarks.append("It was erased at \(moment): its id stays in the list of erased installs.")
            }
            for row in try source.connection.query(
                """
                SELECT requested_at FROM log.erasure_request
                WHERE app = \(source.app) AND install_id = \(install) AND finished_at IS NULL
                """)
            {
                let moment: Timestamp = try row.get(0)
                remarks.append("Its app's server asked at \(moment) to erase it; that is still to be done.")
            }
        }
        var seen: Set<String> = []
        return remarks.filter { seen.insert($0).inserted }
    }
}
