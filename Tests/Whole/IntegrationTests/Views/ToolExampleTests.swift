import Accounts
import EmbeddedPostgres
import Foundation
import Postgres
import ProjectFolder
import Registry
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The examples for other tools")
struct ToolExampleTests {
    private static let examples = ProjectFolder.url.appendingPathComponent("Examples")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: examples.appendingPathComponent(path), encoding: .utf8)
    }

    private static func analyticsViews(in database: TestDatabase) throws -> [String] {
        try database.column(
            "SELECT relname::text FROM pg_class WHERE relnamespace = 'analytics'::regnamespace AND relkind = 'v' ORDER BY 1"
        )
    }

    @Test("dbt: every view is a source, and names columns that it has in its tests")
    func dbt() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var tables: [(name: String, tests: Int, key: [String])] = []
        for line in try Self.text("dbt/models/bellwether/sources.yml").split(separator: "\n") {
            if let name = line.wholeMatch(of: /\s+- name: (\w+)/), line.hasPrefix("      -") {
                tables.append((String(name.1), 0, []))
            }
            if line.contains(/- (one_row_each|holds):/) { tables[tables.count - 1].tests += 1 }
            if let key = line.wholeMatch(of: /\s+- one_row_each: \{columns: \[(.+)\]\}/) {
                tables[tables.count - 1].key = key.1.components(separatedBy: ", ")
            }
        }
        #expect(tables.map(\.name).sorted() == (try Self.analyticsViews(in: database)))
        for table in tables {
            #expect(table.tests > 0, "\(table.name)")
            let columns = try database.columns(of: table.name).map { String($0.prefix { $0 != ":" }) }
            #expect(Set(table.key).isSubset(of: columns), "\(table.name)")
        }
    }

    @Test("dbt: the login of its guide makes models, and is no other login's")
    func dbtLogin() throws {
        let cluster = try TestPostgres.separate(logins: ["dbt"])
        defer { TestPostgres.remove(cluster) }
        var administrator = try Connection(url: cluster.connectionURL(database: "postgres"))
        try administrator.execute(script: "CREATE ROLE \(TestPostgres.owner) LOGIN CREATEROLE")
        try administrator.execute(script: "CREATE DATABASE bellwether OWNER \(TestPostgres.owner)")
        let owner = cluster.connectionURL(database: "bellwether", user: TestPostgres.owner)
        #expect(try Bellwether(database: owner).run("migrate").status == 0)
        let guide = try Self.text("dbt/README.md").components(separatedBy: "```sql\n")
        let script = try #require(guide.count == 2 ? guide[1].components(separatedBy: "```").first : nil)
        var superuser = try Connection(url: cluster.connectionURL(database: "bellwether"))
        try superuser.execute(script: script)
        var dbt = try Connection(url: cluster.connectionURL(database: "bellwether", user: "dbt"))
        // As dbt does it.
        try dbt.execute(script: "CREATE SCHEMA IF NOT EXISTS bellwether_models")
        let models = try FileManager.default.contentsOfDirectory(
            atPath: Self.examples.appendingPathComponent("dbt/models").path
        ).filter { $0.hasSuffix(".sql") }
        #expect(models.count >= 4)
        for file in models {
            let model = try Self.text("dbt/models/\(file)")
                .replacing(/\{\{ source\('\w+', '(\w+)'\) \}\}/) { "analytics.\($0.1)" }
            #expect(!model.contains("{{"))
            let name = file.dropLast(4)
            try dbt.execute(script: "CREATE VIEW bellwether_models.\(name) AS \(model)")
            try dbt.execute(
                script: "DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM bellwether_models.\(name)), 'has rows'; END $$")
        }
        #expect(throws: PostgresError.self) { try dbt.query("SELECT FROM log.event") }
    }

    @Test("the README's table names every view, and nothing else")
    func readme() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let text = try String(contentsOf: Self.examples.appendingPathComponent("../README.md"), encoding: .utf8)
        let part = try #require(text.components(separatedBy: "\n## Views\n").last).components(separatedBy: "\n## ")[0]
        let rows = part.split(separator: "\n").filter { $0.hasPrefix("| ") }
        let named = rows.flatMap { $0.matches(of: /`(\w+)`/).map { String($0.1) } }
        #expect(named.sorted() == (try Self.analyticsViews(in: database)))
    }

    /// The panels of goals, experiments and pressure show what a few people did.
    private func expectComputed(_ board: Board, in database: TestDatabase) throws {
        var news = try ReportedHistory("news", in: database)
        let noon = TestDatabase.noon(2026, 11, 20)
        let experiment = Experiment(
            name: "tips", share: try #require(ControlShare(percent: 50)), salt: "salt", starts: noon, goals: ["visit"])
        for install in 1...4 as ClosedRange<UInt64> {
            for hours in [-1, 2, 3] as [Int64] {
                let delivery = ReportedHistory.Delivery(
                    install: install, notification: news.notification(category: "NEWS", campaign: "tips"))
                news.add(.received(Receipt(via: .serviceExtension)), noon.later(hours: hours), of: delivery)
                if hours == 2 { news.add(.opened(launch: .warm), noon.later(hours: 2, minutes: 5), of: delivery) }
            }
            news.add(
                .goalReached(Goal("visit")), noon.later(hours: 2, minutes: 9),
                of: .init(install: install, notification: Notification()))
        }
        _ = try news.store()
        try database.lending(.ingest) { connection in
            let app = try Apps.named("news", on: &connection).id
            _ = try ExperimentRegistry.register([experiment], of: app, on: &connection)
        }
        let found = try board.panels.filter { (13...15).contains($0.id) }.map { panel in
            let query = panel.targets[0].rawSql.replacing("'$app'", with: "'news'")
                .replacing("$__timeFilter(day)", with: "day BETWEEN '2026-11-01' AND '2026-11-30'")
            return try database.analystRows(query)
        }
        try #require(found.count == 3)
        #expect(found[0] == ["(tips,visit,\"\",4,0.3333333333333333,0)"])
        #expect(found[1].count == 2 && found[1].allSatisfy { $0.hasPrefix("(tips,visit,") })
        #expect(found[2].map { $0.prefix(6) } == ["(1,4,0", "(2,4,1", "(3,4,0"])
    }

    private struct Board: Decodable {
        struct Source: Decodable { let uid: String }
        struct Target: Decodable {
            let rawSql: String
            let datasource: Source
        }
        struct Panel: Decodable {
            let id: Int
            let title: String
            let description: String
            let datasource: Source
            let targets: [Target]
        }
        struct Variables: Decodable {
            struct Variable: Decodable {
                let name: String
                let query: String
            }
            let list: [Variable]
        }
        let panels: [Panel]
        let templating: Variables
    }

    @Test("Grafana: an analyst can run the SQL of every panel, and each reads the provisioned data source")
    func grafana() throws {
        let file = "grafana/provisioning/dashboards/bellwether.json"
        let board = try JSONDecoder().decode(Board.self, from: Data(Self.text(file).utf8))
        #expect(try Self.text("grafana/provisioning/datasources/bellwether.yml").contains("uid: bellwether\n"))
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        for funnel in AnalyticsFunnelViewTests.funnels {
            try app.insert(funnel.view, Dictionary(uniqueKeysWithValues: funnel.counts.map { ($0, 1) }))
        }
        #expect(board.panels.count >= 12 && Set(board.panels.map(\.id)).count == board.panels.count)
        var ran = 0
        for panel in board.panels {
            #expect(panel.datasource.uid == "bellwether" && !panel.description.isEmpty, "\(panel.title)")
            for target in panel.targets {
                #expect(target.datasource.uid == "bellwether")
                let query = target.rawSql.replacing("'$app'", with: "'shop'")
                    .replacing(
                        "$__timeFilter(day)", with: "day BETWEEN '2026-11-01T00:00:00Z' AND '2026-11-30T22:59:59Z'")
                #expect(!query.contains("$"), "\(panel.title)")
                let rows = try database.analystRows(query)
                // A funnel's panel shows the row that there is.
                let isKept = AnalyticsFunnelViewTests.funnels.contains { target.rawSql.contains(" \($0.view) ") }
                if isKept || target.rawSql.contains("install_days") {
                    #expect(rows.count == 1, "\(panel.title): \(rows)")
                }
                ran += 1
            }
        }
        #expect(ran == board.panels.count)
        for variable in board.templating.list {
            #expect(try database.analystRows(variable.query) == ["(shop)"])
        }
        try expectComputed(board, in: database)
    }
}
