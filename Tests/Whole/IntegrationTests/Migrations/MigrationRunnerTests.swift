import EmbeddedPostgres
import Migrations
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("Bringing a database up to date")
struct MigrationRunnerTests {
    private func runner(
        steps: [(String, String)] = [("0001_a", "CREATE TABLE a (n int)"), ("0002_b", "CREATE TABLE b (n int)")],
        definitions: [(String, String)] = [("view_c", "CREATE OR REPLACE VIEW c AS SELECT n FROM a")]
    ) -> MigrationRunner {
        MigrationRunner(
            schema: "History of it", steps: steps.map { Migration(name: $0.0, sql: $0.1) },
            definitions: definitions.map { Migration(name: $0.0, sql: $0.1) })
    }

    private func tables(_ database: TestDatabase) throws -> [String] {
        try database.column("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1")
    }

    @Test("a new database gets everything in order, and a second run finds nothing to do")
    func fresh() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let all = ["0001_a", "0002_b", "view_c"]
        #expect(try runner().state(of: &connection) == .pending(all))
        let lines = LogLines()
        #expect(try runner().run(on: &connection, log: lines.log) == all)
        #expect(lines.all.count == 3)
        #expect(try runner().state(of: &connection) == .current)
        #expect(try runner().run(on: &connection, log: lines.log) == [])
        #expect(lines.all.count == 3)
        #expect(try tables(database) == ["a", "b", "c"])
    }

    @Test("looking where a database stands changes nothing")
    func looking() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        _ = try runner().state(of: &connection)
        #expect(
            try database.value("SELECT count(*) FROM pg_namespace WHERE nspname = 'History of it'", as: Int64.self) == 0
        )
    }

    @Test("a new step runs alone")
    func newStep() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        _ = try runner(steps: [("0001_a", "CREATE TABLE a (n int)")]).run(on: &connection, log: .silent)
        #expect(try runner().state(of: &connection) == .pending(["0002_b"]))
        #expect(try runner().run(on: &connection, log: .silent) == ["0002_b"])
    }

    @Test("what others have made on a view that must be made anew is named, and nothing is changed")
    func dependents() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        _ = try runner().run(on: &connection, log: .silent)
        try connection.execute(
            script:
                "CREATE SCHEMA models; CREATE VIEW models.weekly AS SELECT n FROM c; CREATE VIEW models.other AS SELECT 1 AS n"
        )
        let changed = MigrationRunner(
            schema: "History of it",
            steps: [("0001_a", "CREATE TABLE a (n int)"), ("0002_b", "CREATE TABLE b (n int)")].map(Migration.init),
            definitions: [Migration(name: "view_c", sql: "DROP VIEW c; CREATE VIEW c AS SELECT 1 AS before, n FROM a")],
            ownSchemas: ["public"])
        do {
            _ = try changed.run(on: &connection, log: .silent)
            Issue.record("the view was dropped")
        } catch {
            guard case .dependents(let names) = error else { throw error }
            #expect(names == ["models.weekly"] && "\(error)".contains("models.weekly. Nothing was changed"), "\(error)")
        }
        #expect(try connection.query("SELECT n FROM models.weekly").isEmpty)
        try connection.execute(script: "DROP VIEW models.weekly")
        #expect(try changed.run(on: &connection, log: .silent) == ["view_c"])
    }

    @Test("a definition whose text changed is applied again, and only that")
    func changedDefinition() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        _ = try runner().run(on: &connection, log: .silent)
        let changed = runner(definitions: [("view_c", "CREATE OR REPLACE VIEW c AS SELECT n, n + 1 AS next FROM a")])
        #expect(try changed.state(of: &connection) == .pending(["view_c"]))
        #expect(try changed.run(on: &connection, log: .silent) == ["view_c"])
        #expect(try changed.state(of: &connection) == .current)
        #expect(try connection.query("SELECT next FROM c").isEmpty)
    }

    @Test("a step that fails is named, and nothing of its run stays")
    func failing() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let broken = runner(steps: [
            ("0001_a", "CREATE TABLE a (n int)"), ("0002_b", "CREATE TABLE b (); SELECT 1 / 0"),
        ])
        let error = #expect(throws: MigrationError.self) { try broken.run(on: &connection, log: .silent) }
        #expect(
            error?.description
                == "migration 0002_b failed, and nothing was changed: PostgreSQL says: division by zero (SQLSTATE 22012)"
        )
        #expect(try tables(database) == [])
        #expect(connection.isInTransaction == false)
        #expect(try runner().run(on: &connection, log: .silent).count == 3)
    }

    @Test("a step that was applied with another text is refused, by name, and nothing runs")
    func drift() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        _ = try runner().run(on: &connection, log: .silent)
        let other = runner(steps: [
            ("0001_a", "CREATE TABLE a (n int) "), ("0002_b", "CREATE TABLE b (n int)"),
            ("0003_d", "CREATE TABLE d ()"),
        ])
        #expect(try other.state(of: &connection) == .drifted(["0001_a"]))
        let error = #expect(throws: MigrationError.self) { try other.run(on: &connection, log: .silent) }
        guard case .drifted(["0001_a"]) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try tables(database) == ["a", "b", "c"])
    }

    @Test("a database that a newer program made is refused, and nothing runs")
    func newer() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        _ = try runner().run(on: &connection, log: .silent)
        let older = runner(
            steps: [("0001_a", "CREATE TABLE a (n int)")],
            definitions: [("view_c", "CREATE OR REPLACE VIEW c AS SELECT 1")])
        #expect(try older.state(of: &connection) == .newer(["0002_b"]))
        let error = #expect(throws: MigrationError.self) { try older.run(on: &connection, log: .silent) }
        #expect(error?.description.contains("0002_b") == true)
    }

    @Test(
        "of many that start at once on a new database one applies everything, and the others find it done",
        arguments: 1...4)
    func atOnce(round: Int) throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let outcomes = Lock<[[String]]>([])
        try together(4) { _ in
            var connection = try database.session(nil)
            let applied = try Migrations.runner.run(on: &connection, log: .silent)
            outcomes.withLock { $0.append(applied) }
        }
        let all = (Migrations.steps + Migrations.definitions).map(\.name)
        #expect(outcomes.withLock { $0 }.sorted { $0.count > $1.count } == [all, [], [], []])
        var connection = try database.connect()
        #expect(try Migrations.runner.state(of: &connection) == .current)
    }

    @Test("two databases of one cluster migrate at once though they share the roles")
    func sharedRoles() throws {
        let cluster = try TestPostgres.separate()
        defer { TestPostgres.remove(cluster) }
        let url = cluster.connectionURL(database: "postgres")
        var administrator = try Connection(url: url)
        try administrator.execute(script: "CREATE ROLE \(TestPostgres.owner) LOGIN CREATEROLE")
        for number in 0..<4 {
            try administrator.execute(script: "CREATE DATABASE d\(number) OWNER \(TestPostgres.owner)")
        }
        let urls = (0..<4).map { cluster.connectionURL(database: "d\($0)", user: TestPostgres.owner) }
        try together(4) { number in
            var connection = try Connection(url: urls[number])
            connection.deadline = .after(seconds: 30)
            _ = try Migrations.runner.run(on: &connection, log: .silent)
            try connection.execute(script: "SET ROLE bellwether_ingest")
        }
    }
}
