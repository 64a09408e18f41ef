import Postgres
import TestSupport
import Testing

/// What a login that is bound to one app sees of all views, in a database with many apps.
struct BoundViews {
    private let database: TestDatabase
    private let app: String
    private let id: Int32

    /// The app with the most events here.
    init(_ database: TestDatabase) throws {
        self.database = database
        var owner = try database.connect()
        let row = try owner.query(
            """
            SELECT e.app, a.id FROM analytics.events AS e JOIN log.app AS a ON a.slug = e.app
            GROUP BY 1, 2 ORDER BY count(*) DESC, 1 LIMIT 1
            """)[0]
        (app, id) = (try row.get(0), try row.get(1))
    }

    private struct View {
        let name: String
        /// The type of its column `app`; nil if it has none.
        let app: String?
        var isOfPositions: Bool { name.hasSuffix(".projections") }
    }

    /// All that analysts read, of which nothing is left to a list.
    private func views(_ owner: inout Connection) throws -> [View] {
        try owner.query(
            """
            SELECT format('%I.%I', n.nspname, c.relname), (
                SELECT format_type(a.atttypid, NULL) FROM pg_attribute AS a WHERE a.attrelid = c.oid
                    AND a.attname = 'app')
            FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname !~ '^(pg_|information_schema)' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
                AND has_table_privilege('bellwether_analyst', c.oid, 'SELECT') ORDER BY 1
            """
        ).map { row in View(name: try row.get(0), app: try row.optional(1)) }
    }

    private func rows(_ query: String, _ connection: inout Connection) throws -> [String] {
        let question: String = "SELECT (to_jsonb(v) - 'as_of')::text COLLATE \"C\" FROM \(query) ORDER BY 1"
        return try connection.query(Statement(question)).map { try $0.get(0) }
    }

    func check() throws {
        var owner = try database.connect()
        let views = try views(&owner)
        #expect(views.count > 60)
        #expect(try owner.query("SELECT FROM log.unbound_view").isEmpty)
        try owner.query("INSERT INTO log.analyst VALUES (\(TestPostgres.analyst), ARRAY[\(app)])")
        var analyst = try database.connect(as: TestPostgres.analyst)
        var hidden = 0
        for view in views {
            let seen = try rows("\(view.name) AS v", &analyst)
            if view.isOfPositions {
                #expect(!seen.isEmpty || view.name.hasPrefix("hub"), "\(view.name)")
                continue
            }
            let own = view.app.map { "app = \($0 == "text" ? "'\(app)'" : "\(id)")" } ?? "false"
            let wanted = try rows("\(view.name) AS v WHERE \(own)", &owner)
            #expect(seen == wanted, "\(view.name): \(Set(seen).symmetricDifference(wanted).sorted().prefix(2))")
            let count: String = "SELECT count(*) FROM \(view.name)"
            let all: Int64 = try owner.query(Statement(count))[0].get(0)
            if all > Int64(seen.count) { hidden += 1 }
        }
        #expect(hidden > 20, "\(hidden) views had something to hide")
        try castsTellNothing(of: views.filter { $0.name.hasPrefix("analytics.") }, &analyst)
        // A setting takes more away, and gives nothing.
        try analyst.execute(script: "SET bellwether.apps = '{some-other-app}'")
        #expect(try rows("analytics.apps AS v", &analyst).isEmpty)
        try analyst.execute(script: "SET bellwether.apps = ''")
        #expect(try rows("analytics.apps AS v", &analyst).count == 1)
        try owner.query("UPDATE log.analyst SET apps = '{}'")
        var none = try database.connect(as: TestPostgres.analyst)
        #expect(try rows("analytics.events AS v", &none).isEmpty)
        try owner.query("DELETE FROM log.analyst")
    }

    /// A cast that fails quotes the value. It may be tried before the rows of other apps are left out.
    private func castsTellNothing(of views: [View], _ analyst: inout Connection) throws {
        let columns = try analyst.query(
            """
            SELECT format('%I.%I', n.nspname, c.relname), quote_ident(a.attname)
            FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
            WHERE c.relkind = 'v' AND a.attname = ANY (\(["app", "install_id", "notification_key"]))
            """)
        var quoted = 0
        for row in columns {
            let (view, column): (String, String) = (try row.get(0), try row.get(1))
            guard views.contains(where: { $0.name == view }) else { continue }
            for condition in [
                "\(column)::text::integer < 0", "(set_config('b.x', \(column)::text, true))::integer < 0",
            ] {
                let question: String = "SELECT count(*) FROM \(view) WHERE \(condition)"
                do { try analyst.query(Statement(question)) } catch {
                    let said = "\(error)".firstMatch(of: /(?:type integer: |value )"([^"]*)"/)?.1
                    let value = String(try #require(said, "\(view).\(column): \(error)"))
                    // What is hidden is null, which set_config takes for an empty text.
                    let isOwn = try value.isEmpty || value == app || knows(value, &analyst)
                    #expect(isOwn, "\(view).\(column) told \(value)")
                    quoted += 1
                }
            }
        }
        #expect(quoted > 20)
    }

    private func knows(_ value: String, _ analyst: inout Connection) throws -> Bool {
        try analyst.query(
            """
            SELECT EXISTS (SELECT FROM analytics.events WHERE install_id::text = \(value)
                OR notification_key = \(value))
                OR EXISTS (SELECT FROM analytics.fcm_export WHERE notification_key = \(value))
                OR EXISTS (SELECT FROM analytics.rejected_events WHERE install_id::text = \(value))
            """)[0].get(0)
    }
}
