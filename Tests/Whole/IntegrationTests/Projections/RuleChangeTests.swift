import EmbeddedPostgres
import EventLog
import FunnelOracle
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing

@testable import Projections

@Suite("After an update of the rules")
struct RuleChangeTests {
    private static let new = ["category_exposures", "campaign_funnel"]
    private static let changed =
        ["deliveries"] + Projectors.all.filter { $0.version > 1 || new.contains($0.name) }.map { $0.name }

    /// A database that an older program has folded, brought to this version: some projections have other rules since,
    /// and two are new.
    private func updated(_ seeds: ClosedRange<UInt64> = 1...4) throws -> (TestDatabase, Traffic, ProjectionControl) {
        let database = try TestDatabase.make()
        let traffic = try Traffic(seeds: seeds, in: database)
        try traffic.appendRest()
        let control = try database.projections()
        #expect(try control.catchUp().stopped.isEmpty)
        try database.run(
            """
            UPDATE projection.projector SET version = 1;
            DELETE FROM projection.projector WHERE name IN ('category_exposures', 'campaign_funnel');
            DROP TABLE projection.category_exposures_0, projection.category_exposures_1, projection.campaign_funnel_0,
                projection.campaign_funnel_1, projection.campaign_soles_0, projection.campaign_soles_1;
            SELECT projection.add_projector('category_exposures', 1, '{category_exposures}');
            SELECT projection.add_projector('campaign_funnel', 1, '{campaign_funnel,campaign_soles}');
            """)
        return (database, traffic, control)
    }

    private func due(_ database: TestDatabase) throws -> [String] {
        try database.lending(nil) { connection in try AutomaticRebuild.due(on: &connection) }
    }

    private func delivered(_ database: TestDatabase) throws -> Int64 {
        try database.value("SELECT sum(delivered)::bigint FROM analytics.category_funnel")
    }

    @Test(
        "what older rules have counted stands still, can be read, and is told everywhere; nothing new is counted by them"
    )
    func told() throws {
        let (database, _, control) = try updated()
        defer { database.drop() }
        #expect(try due(database) == Self.changed)
        let before = try delivered(database)
        var connection = try database.session(nil)
        let works = try UnfinishedWork.all(on: &connection)
        #expect(works.map(\.remedy) == ["bellwether rebuild"] && works[0].what.contains("campaign_funnel"), "\(works)")
        let report = try Verifier().verify(on: &connection)
        #expect(Set(report.omissions.map(\.projector)) == Set(Self.changed) && !report.isProved, "\(report)")
        #expect(report.omissions.contains { $0.reason.contains("version 1") })
        let more = try Traffic(seeds: 11...12, in: database)
        try more.appendRest()
        let stopped = try control.catchUp().stopped
        #expect(stopped.count == Projectors.all.count + 1, "\(stopped)")
        #expect(stopped.contains { $0.reason.contains("deliveries were counted by version 1") })
        #expect(try delivered(database) == before)
    }

    @Test("a runner makes it anew by itself, beside new events, and goes on with all of it")
    func renewed() throws {
        let (database, traffic, _) = try updated()
        defer { database.drop() }
        let lines = LogLines()
        let runner = Runner(
            .init(url: try database.url()), metrics: Metrics(), log: lines.log, isWell: { true })
        runner.start()
        defer { runner.stop() }
        let more = try Traffic(seeds: 11...13, in: database)
        try more.appendRest()
        #expect(try eventually { try due(database).isEmpty }, "\(lines.all)")
        let last = try Traffic(seeds: 21...21, in: database)
        try last.appendRest()
        #expect(
            try eventually {
                try database.column("SELECT name FROM analytics.projections WHERE lag <> 0", of: String.self).isEmpty
            })
        for traffic in [traffic, more, last] { try traffic.expectOracle() }
        try database.expectLevel()
    }

    @Test("two runners do it together or one after the other: it ends once, and proved")
    func twoRunners() throws {
        let (database, traffic, _) = try updated()
        defer { database.drop() }
        let runners = try (0..<2).map { _ in
            Runner(.init(url: try database.url()), metrics: Metrics(), log: .silent, isWell: { true })
        }
        for runner in runners { runner.start() }
        #expect(try eventually { try due(database).isEmpty })
        for runner in runners { runner.stop() }
        // None was begun a second time.
        #expect(
            try database.value("SELECT max(id) FROM projection.generation WHERE state <> 'retired'", as: Int32.self)
                == 2)
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("who is at it alone holds the others off, and one who does not own the tables is told so")
    func turns() throws {
        let (database, _, control) = try updated()
        defer { database.drop() }
        let seen = Lock<[String]>([])
        let renewal = AutomaticRebuild(control)
        let outcome = try renewal.run { phase in
            guard case .verifying(shard: 3, _) = phase else { return }
            guard case .busy? = try? renewal.run() else { return }
            seen.withLock { $0.append("busy") }
        }
        guard case .made(let names, .swapped) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(names == Self.changed && seen.withLock { $0 } == ["busy"])
        guard case .nothingToDo = try renewal.run() else {
            Issue.record("there is more to do")
            return
        }
        try database.run("UPDATE projection.projector SET version = 0 WHERE name = 'media_funnel'")
        // Even the superuser would make tables that the projections may not write.
        let superuser = try TestPostgres.shared().connectionURL(database: database.name)
        guard
            case .notOwner(["media_funnel"]) = try AutomaticRebuild(ProjectionControl(url: superuser, log: .silent))
                .run()
        else {
            Issue.record("somebody else made tables")
            return
        }
        guard case .made(["media_funnel"], .swapped) = try renewal.run() else {
            Issue.record("a single funnel was not made anew")
            return
        }
        try database.expectLevel()
    }

    @Test("asked to end it ends at once, and the next one goes on from there")
    func cancelled() throws {
        let (database, traffic, control) = try updated()
        defer { database.drop() }
        var first = control
        first.cancellation = Cancellation()
        let cancellation = first.cancellation
        let error = #expect(throws: StepError.self) {
            _ = try AutomaticRebuild(first).run { phase in
                if case .verifying(shard: 2, _) = phase { cancellation.ask() }
            }
        }
        if case .cancelled? = error {} else { Issue.record("\(String(describing: error))") }
        #expect(try database.generations() == ["1 live", "2 building"])
        guard case .made(_, .swapped) = try AutomaticRebuild(control).run() else {
            Issue.record("it did not go on")
            return
        }
        #expect(try database.generations() == ["2 live"])
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("an install can be erased before anything is made anew, and afterwards nothing counts it")
    func erased() throws {
        let (database, traffic, control) = try updated()
        defer { database.drop() }
        let event = traffic.shops[0].events[0]
        let app = try #require(traffic.shops[0].apps[event.app])
        let receipt = try ErasureRun(control).run(app: app.id, install: event.event.source.installID)
        #expect(receipt.own.deliveries > 0 && receipt.stopped.count == Projectors.all.count + 1)
        try control.rebuild().expectSwapped()
        #expect(
            try database.value(
                "SELECT count(*) FROM projection.delivery WHERE app = \(app.id) AND install_id = \(event.event.source.installID)",
                as: Int64.self) == 0)
        try database.expectLevel()
    }
}
