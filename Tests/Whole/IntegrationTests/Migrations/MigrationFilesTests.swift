import EventLog
import Foundation
import Migrations
import Postgres
import ProjectFolder
import Projections
import TestSupport
import Testing

@Suite("The migrations of this program")
struct MigrationFilesTests {
    private static let folder = ProjectFolder.url.appendingPathComponent("Migrations/sql")

    @Test("the list in the program is the folder of files, name by name and byte by byte")
    func listIsFolder() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter {
            $0.hasSuffix(".sql")
        }
        let tables = Projectors.all.flatMap { projector in projector.tables.map { (projector: projector, table: $0) } }
        let funnels = Dictionary(uniqueKeysWithValues: tables.map { ("view_\($1.name)", (table: $1, projector: $0)) })
        let declared =
            funnels.compactMapValues { $0.table.viewDefinition(of: $0.projector) }
            .merging([
                "view_events": EventViews.sql, "view_opened_delivery": DeliveryTable.openedView,
                "view_opened_install_day": InstallDayTable.openedView,
            ]) { $1 }
            .merging(Projectors.all.map { ("view_counted_\($0.name)", $0.countedView) }) { $1 }
        let carried = Migrations.steps + Migrations.definitions
        let byHand = carried.filter { declared[$0.name] == nil }
        #expect(files.map { String($0.dropLast(4)) }.sorted() == byHand.map(\.name).sorted())
        for migration in byHand {
            let text = try String(
                contentsOf: Self.folder.appendingPathComponent(migration.name + ".sql"), encoding: .utf8)
            #expect(migration.sql == text + (funnels[migration.name]?.table.comments ?? ""), "\(migration.name)")
        }
        for migration in carried {
            if let sql = declared[migration.name] { #expect(migration.sql == sql, "\(migration.name)") }
        }
    }

    @Test("steps are numbered without gap in the order in which they run, and each says why first")
    func order() {
        for (place, step) in Migrations.steps.enumerated() {
            let number = String(place + 1)
            #expect(step.name.hasPrefix(String(repeating: "0", count: 4 - number.count) + number + "_"))
        }
        for migration in Migrations.steps + Migrations.definitions {
            #expect(migration.sql.hasPrefix("-- "), "\(migration.name)")
        }
        #expect(
            Set((Migrations.steps + Migrations.definitions).map(\.name)).count
                == Migrations.steps.count + Migrations.definitions.count)
    }

    @Test("only the opened views, and the one view that sorts them as a number, know bits of stored rows")
    func flags() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let readers: Set<String> = try Set(
            database.column(
                """
                SELECT DISTINCT view.oid::regclass::text
                FROM pg_depend AS d
                JOIN pg_rewrite AS rule ON d.classid = 'pg_rewrite'::regclass AND rule.oid = d.objid
                JOIN pg_class AS view ON view.oid = rule.ev_class AND view.oid <> d.refobjid
                JOIN pg_attribute AS a
                    ON d.refclassid = 'pg_class'::regclass AND a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
                WHERE a.attname IN ('flags', 'codes')
                    AND d.refobjid IN ('projection.delivery'::regclass, 'projection.opened_delivery'::regclass,
                        'projection.install_day'::regclass, 'projection.opened_install_day'::regclass)
                """))
        #expect(
            readers == [
                "projection.opened_delivery", "projection.opened_install_day", "projection.stack_depth_funnel",
            ])
        let functions: [String] = try database.column(
            #"SELECT oid::regprocedure::text FROM pg_proc WHERE prosrc ~ '\mflags\s*(&|>>|\|)'"#)
        #expect(functions.isEmpty)
    }

    @Test("story_page_funnel and day_story look up the send that tells the story of a day by one and the same SQL")
    func storyOfDay() throws {
        func lookup(_ name: String) throws -> [String] {
            let text = try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
            let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            let first = try #require(lines.firstIndex(of: "coalesce("))
            return Array(lines[first..<(try #require(lines[first...].firstIndex { $0.hasPrefix("))") }))])
        }
        let found = try lookup("view_day_story.sql")
        #expect(found.count(where: { $0.hasPrefix("SELECT s.number FROM sends.send") }) == 4)
        #expect(try lookup("view_story_page_funnel.sql") == found)
    }

    @Test("definitions can be applied again over themselves")
    func definitionsAgain() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        for definition in Migrations.definitions { try connection.execute(script: definition.sql) }
        for definition in Migrations.definitions { try connection.execute(script: definition.sql) }
        #expect(try Migrations.runner.state(of: &connection) == .current)
    }

    @Test("the roles that do the service's work can be taken on by the owner, who is no superuser")
    func roles() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        #expect(try database.value("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == false)
        for role in [
            "bellwether_ingest", "bellwether_projector", "bellwether_analyst", "bellwether_reporter", "bellwether_look",
        ] {
            var connection = try database.connect()
            try connection.query("SET ROLE \(identifier: role)")
            #expect(try connection.query("SELECT current_user")[0].get(0) == role)
        }
    }

    @Test("the analyst logs in to read only, in UTC, with an end to long statements")
    func analyst() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect(as: TestPostgres.analyst)
        let row = try connection.query(
            """
            SELECT current_setting('default_transaction_read_only'), current_setting('timezone'),
                current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
                current_setting('search_path')
            """)[0]
        #expect(try row.get(0) == "on")
        #expect(try row.get(1) == "UTC")
        #expect(try row.get(2) == "5min")
        #expect(try row.get(3) == "10min")
        #expect(try row.get(4) == "analytics")
        #expect(try connection.query("SELECT FROM events").isEmpty)
    }
}
