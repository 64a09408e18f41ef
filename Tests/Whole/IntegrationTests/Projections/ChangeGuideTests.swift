import Foundation
import FunnelOracle
import Migrations
import Postgres
import ProjectFolder
import Projections
import TestSupport
import Testing

@testable import ProjectorExample

/// What the guide "Adding a projector" makes is changed by "Adding a column to a funnel".
@Suite("The guide to adding a column")
struct ColumnGuideTests {
    private typealias Before = ProjectorExample.OriginFunnel
    private typealias After = ProjectorExample.OriginFunnelNext

    private static func steps() throws -> [GuideStep] { try GuideStep.all(of: "Adding a column to a funnel") }

    private static func code(_ file: String) throws -> String {
        try #require(try steps().first { $0.file == file }, "\(file)").code
    }

    @Test("names four files, and registers its migration as the last one is")
    func files() throws {
        #expect(
            try Self.steps().map(\.file) == [
                "Migrations/sql/NNNN_origin_dismissed.sql", "Sources/Operations/Migrations/Migrations.swift",
                "Sources/Funnels/Projections/Projectors/OriginFunnel.swift",
                "Tests/Funnels/FunnelOracle/Funnels/OriginFunnel.swift",
            ])
        try GuideStep.expectRegistered(
            "NNNN_origin_dismissed", by: Self.code("Sources/Operations/Migrations/Migrations.swift"),
            after: #require(Migrations.steps.last).name)
    }

    @Test(
        "makes of the other guide's code what is compiled here",
        arguments: [
            (
                "Sources/Funnels/Projections/Projectors/OriginFunnel.swift",
                "Tests/Funnels/ProjectorExample/OriginFunnelNext.swift"
            ),
            (
                "Tests/Funnels/FunnelOracle/Funnels/OriginFunnel.swift",
                "Tests/Funnels/FunnelOracle/Funnels/OriginFunnelNext.swift"
            ),
        ])
    func compiled(file: String, copy: String) throws {
        let before = try #require(try GuideStep.all(of: "Adding a projector").first { $0.file == file }).code
        let step = try #require(try Self.steps().first { $0.file == file })
        #expect(
            try step.applied(to: before).replacing("OriginFunnel", with: "OriginFunnelNext")
                == ProjectFolder.text(of: copy))
    }

    @Test(
        "makes a column that is counted, proved and read, whether there were events before", arguments: [false, true])
    func works(hasEvents: Bool) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        let migration = try #require(
            try GuideStep.all(of: "Adding a projector").first { $0.file.hasSuffix("origin_funnel.sql") })
        try connection.execute(script: migration.code)
        try show(Before.self, on: &connection)
        var old = try database.projections()
        old.projectors.append(Before.self)
        var histories: StoredHistories?
        if hasEvents {
            histories = try StoredHistories(seeds: 0..<20, in: database)
            #expect(try old.catchUp().stopped.isEmpty)
        }

        try connection.execute(script: try Self.code("Migrations/sql/NNNN_origin_dismissed.sql"))
        try show(After.self, on: &connection)
        var control = try database.projections()
        control.projectors.append(After.self)
        if hasEvents {
            guard case .made(["origin_funnel"], .swapped) = try AutomaticRebuild(control).run() else {
                Issue.record("not made")
                return
            }
        }
        let stored = try histories ?? StoredHistories(seeds: 0..<20, in: database)
        #expect(try control.catchUp().stopped.isEmpty)

        var session = try database.session(nil)
        let report = try Verifier(recounts: Recounts.all(of: control.projectors)).verify(on: &session)
        #expect(report.isProved && report.cells > 100, "\(report)")
        let expected = stored.histories.flatMap { history in
            FunnelOracle.OriginFunnelNext.rows(
                of: FunnelOracle.Delivery.all(in: history.events, timeZone: history.timeZone))
        }
        #expect(expected.contains { $0.dismissed > 0 })
        let table = FunnelTable(expected)
        var analyst = try database.connect(as: TestPostgres.analyst)
        let rows = try analyst.query(Statement(table.query)).map { row in
            try table.columns.indices.map { try row.optional($0, as: String.self) }
        }
        #expect(table.differences(in: rows) == [])
        #expect(try FunnelDeclarationTests.disagreements(of: After.self, on: &connection) == [])
    }

    /// As `migrate` does it: over the views that are there, for analysts and for hubs.
    private func show(_ projector: any Projector.Type, on connection: inout Connection) throws {
        try connection.execute(script: projector.countedView)
        for table in projector.tables {
            try connection.execute(script: try #require(table.viewDefinition(of: projector)))
        }
    }
}

@Suite("The guide to changing a wording")
struct WordingGuideTests {
    @Test("finds the words where it says, and leaves none of the old ones that people would read")
    func works() throws {
        let steps = try GuideStep.all(of: "Changing a wording")
        #expect(steps.count == 3)
        let files = TemporaryDirectory()
        for (place, step) in steps.enumerated() {
            let changed = try step.applied(to: ProjectFolder.text(of: step.file))
            #expect(changed.contains("Broke off") && !changed.contains("Abandoned"), "\(step.file)")
            guard step.file.hasSuffix(".swift") else { continue }
            let copy = files("changed-\(place).swift")
            try changed.write(toFile: copy, atomically: true, encoding: .utf8)
            let parsed = try ChildProcess.run(["swiftc", "-frontend", "-parse", copy])
            #expect(parsed.status == 0, "\(parsed.messages)")
        }
        // What the guide leaves out is found here: no other file has the word for people.
        let places = ["Docs", "README.md", "Sources/Reading/Reports", "Sources/Reading/Look"].map {
            ProjectFolder.path + "/" + $0
        }
        let found = try ChildProcess.run(["grep", "-rlw", "Abandoned"] + places)
        #expect(
            Set(found.output.split(separator: "\n").map { String($0.dropFirst(ProjectFolder.path.count + 1)) })
                == Set(steps.map(\.file) + ["Docs/CONTRIBUTING.md"]), "\(found)")
    }
}
