import FunnelOracle
import Migrations
import Postgres
import ProjectFolder
import Projections
import TestSupport
import Testing

@testable import ProjectorExample

@Suite("The guide to adding a projector")
struct ProjectorGuideTests {
    private typealias Example = ProjectorExample.OriginFunnel

    private static func steps() throws -> [GuideStep] { try GuideStep.all(of: "Adding a projector") }

    private static func code(_ file: String) throws -> String {
        try #require(try steps().first { $0.file == file }, "\(file)").code
    }

    @Test("names seven files, of which those that are there have the lists that it extends")
    func files() throws {
        let steps = try Self.steps()
        #expect(
            steps.map(\.file) == [
                "Migrations/sql/NNNN_origin_funnel.sql", "Sources/Operations/Migrations/Migrations.swift",
                "Sources/Funnels/Projections/Projectors/OriginFunnel.swift",
                "Sources/Funnels/Projections/Projectors/Projectors.swift",
                "Tests/Funnels/FunnelOracle/Funnels/OriginFunnel.swift", "Tests/Funnels/FunnelOracle/Funnels.swift",
                "Docs/Analysts.md",
            ])
        // The line of the last step, with the new step's name in its place, is the guide's.
        try GuideStep.expectRegistered(
            "NNNN_origin_funnel", by: Self.code("Sources/Operations/Migrations/Migrations.swift"),
            after: #require(Migrations.steps.last).name)
        // Lists of types, to which one more is added.
        for (file, list) in [
            ("Sources/Funnels/Projections/Projectors/Projectors.swift", "let all: [any Projector.Type] = ["),
            ("Tests/Funnels/FunnelOracle/Funnels.swift", "let kinds: [any FunnelRow.Type] = ["),
        ] {
            #expect(try ProjectFolder.text(of: file).contains(list) && Self.code(file) == "OriginFunnel.self\n")
        }
        let row = try Self.code("Docs/Analysts.md")
        let rows = try ProjectFolder.text(of: "Docs/Analysts.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.contains { $0.split(separator: "|").count == row.split(separator: "|").count - 1 })
    }

    @Test(
        "has the code that is compiled here",
        arguments: [
            (
                "Sources/Funnels/Projections/Projectors/OriginFunnel.swift",
                "Tests/Funnels/ProjectorExample/OriginFunnel.swift"
            ),
            (
                "Tests/Funnels/FunnelOracle/Funnels/OriginFunnel.swift",
                "Tests/Funnels/FunnelOracle/Funnels/OriginFunnel.swift"
            ),
        ])
    func compiled(file: String, copy: String) throws {
        #expect(try Self.code(file) == ProjectFolder.text(of: copy))
    }

    @Test(
        "makes a funnel that is folded, proved and read, from the first event on or later",
        arguments: [false, true])
    func works(hasEvents: Bool) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        var stored: StoredHistories?
        if hasEvents {
            stored = try StoredHistories(seeds: 0..<20, in: database)
            #expect(try database.projections().catchUp().stopped.isEmpty)
        }
        try connection.execute(script: try Self.code("Migrations/sql/NNNN_origin_funnel.sql"))
        try connection.execute(script: Example.countedView)
        for table in Example.tables {
            try connection.execute(script: try #require(table.viewDefinition(of: Example.self)))
        }
        var control = try database.projections()
        control.projectors.append(Example.self)
        if hasEvents {
            #expect(try control.stopped().map(\.name) == ["origin_funnel"])
            guard case .made(["origin_funnel"], .swapped) = try AutomaticRebuild(control).run() else {
                Issue.record("not made")
                return
            }
        }
        // The same histories again are repeats, of which none is stored.
        let histories = try stored ?? StoredHistories(seeds: 0..<20, in: database)
        #expect(try control.catchUp().stopped.isEmpty)

        let verifier = Verifier(recounts: Recounts.all(of: control.projectors))
        var session = try database.session(nil)
        let report = try verifier.verify(on: &session)
        #expect(report.isProved && report.cells > 100, "\(report)")

        var analyst = try database.connect(as: TestPostgres.analyst)
        let expected = histories.histories.flatMap { history in
            FunnelOracle.OriginFunnel.rows(
                of: FunnelOracle.Delivery.all(in: history.events, timeZone: history.timeZone))
        }
        let table = FunnelTable(expected)
        let rows = try analyst.query(Statement(table.query)).map { row in
            try table.columns.indices.map { try row.optional($0, as: String.self) }
        }
        #expect(expected.count > 10 && table.differences(in: rows) == [])
        #expect(try FunnelDeclarationTests.disagreements(of: Example.self, on: &connection) == [])
    }
}
