import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

@Suite("What the projections stop at")
struct ProjectionGateTests {
    private static let all = (["deliveries"] + Projectors.all.map { $0.name }).sorted()

    private func delivered(in database: TestDatabase) throws -> Int64 {
        try database.value("SELECT coalesce(sum(delivered), 0)::bigint FROM analytics.category_funnel")
    }

    /// All projections have stopped at that batch, with all before it folded.
    private func expectStopped(
        at batch: Int64, _ stopped: [StoppedProjection], because reason: String, in database: TestDatabase,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(stopped.map(\.name) == Self.all, sourceLocation: sourceLocation)
        #expect(Set(stopped.map(\.batch)) == [batch], sourceLocation: sourceLocation)
        #expect(
            stopped.allSatisfy { $0.reason.contains(reason) }, "\(stopped.first?.reason ?? "")",
            sourceLocation: sourceLocation)
        let positions: [String] = try database.column(
            "SELECT DISTINCT concat_ws(' ', status, stopped_batch, position) FROM analytics.projections")
        #expect(positions == ["stopped \(batch) \(batch - 1)"], sourceLocation: sourceLocation)
    }

    @Test("an event that is gone from the log stops all at its batch; all before it is folded, and a rebuild mends it")
    func missing() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try database.appendReceipts(1...150, of: app)
        try database.run(
            """
            CREATE TABLE public.taken AS
                SELECT e.* FROM log.event AS e JOIN log.batch AS b ON b.id = e.batch_id WHERE b.number = 88;
            BEGIN; SELECT log.open_gate(); DELETE FROM log.event AS e USING public.taken AS t
                WHERE e.event_id = t.event_id; COMMIT
            """)
        // Four lanes in two runs at once, so that several meet it.
        let control = try database.projections(mostEvents: 9)
        try together(2) { _ in _ = try control.catchUp() }
        try expectStopped(
            at: 88, try control.stopped(), because: "batch 88 has 0 events in shard", in: database)
        #expect(try delivered(in: database) >= 87)
        // Again nothing moves, and a rebuild does not get further; it leaves nothing behind.
        let before = try delivered(in: database)
        #expect(try control.catchUp().stopped.count == Self.all.count)
        guard case .stopped(let stopped) = try control.rebuild() else {
            Issue.record("went on")
            return
        }
        #expect(Set(stopped.map(\.batch)) == [88])
        // Nor can a funnel alone be made level with what stands still.
        guard case .stopped(let fold) = try control.rebuild(["media_funnel"]) else {
            Issue.record("went on")
            return
        }
        #expect(fold.map(\.name) == ["deliveries"])
        #expect(
            try database.generations() == ["1 live"] && database.tables() == [1] && delivered(in: database) == before)
        try database.run("INSERT INTO log.event SELECT * FROM public.taken")
        try control.rebuild().expectSwapped()
        #expect(try delivered(in: database) == 150)
        try database.expectLevel()
    }

    @Test(
        "an event too many stops all at its batch, in whichever shard it stands and whichever shards move together",
        arguments: [Int16(16), 1])
    func tooMany(together shards: Int16) throws {
        let database = try TestDatabase.make(.withUsualShards)
        defer { database.drop() }
        let app = try database.makeApp()
        try database.appendReceipts(1...30, of: app)
        // A copy on another install, in a shard in which the batch has none.
        try database.run(
            """
            CREATE TABLE public.extra AS
                SELECT e.* FROM log.event AS e JOIN log.batch AS b ON b.id = e.batch_id WHERE b.number = 17;
            UPDATE public.extra SET codes = (codes & ~(63 << 4)) | ((((codes >> 4) + 5) % 16) << 4),
                install_id = gen_random_uuid();
            INSERT INTO log.event SELECT * FROM public.extra
            """)
        var connection = try database.session(.projector)
        var stepper = Stepper(choice: .live, mostEvents: 4, log: .silent)
        for _ in 0..<(16 * 30) {
            guard case .moved = try stepper.step(upTo: 30, mostShards: Int32(shards), on: &connection) else { break }
        }
        let control = try database.projections()
        try expectStopped(
            at: 17, try control.catchUp().stopped, because: "batch 17 has", in: database)
        try database.run(
            "BEGIN; SELECT log.open_gate(); DELETE FROM log.event AS e USING public.extra AS x WHERE e.install_id = x.install_id; COMMIT"
        )
        try control.rebuild().expectSwapped()
        try database.expectLevel()
    }

    @Test("an event that moved to another shard does not make up for itself")
    func moved() throws {
        let database = try TestDatabase.make(.withUsualShards)
        defer { database.drop() }
        let app = try database.makeApp()
        try database.appendReceipts(1...20, of: app)
        try database.run(
            """
            BEGIN; SELECT log.open_gate();
            UPDATE log.event AS e SET codes = (codes & ~(63 << 4)) | ((((codes >> 4) + 1) % 16) << 4)
                FROM log.batch AS b
            WHERE b.id = e.batch_id AND b.number = 6; COMMIT
            """)
        // All shards in one step: their sum is right.
        var connection = try database.session(.projector)
        var stepper = Stepper(choice: .live, mostEvents: 100, log: .silent)
        for _ in 0..<20 { _ = try stepper.step(upTo: 20, mostShards: 16, on: &connection) }
        try expectStopped(
            at: 6, try database.projections().catchUp().stopped, because: "batch 6 has", in: database)
    }

    @Test("a stored delivery that does not read stops all and is named, until a rebuild has made it anew")
    func unreadable() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let traffic = try Traffic(seeds: 1...3, in: database)
        let app = try database.makeApp("unreadable")
        let appender = try database.appender()
        let install = UUID.random()
        let receipt = Event.sample(install: install, interaction: .received(Receipt()))
        _ = try appender.append([app.submission([receipt])])
        try traffic.appendRest()
        let control = try database.projections()
        #expect(try control.catchUp().stopped.isEmpty)
        let head: Int64 = try database.value("SELECT max(number) FROM log.batch")
        try database.run(
            "UPDATE projection.delivery SET state = '\\x07ffffff' WHERE install_id = '\(install)'")
        // Others are not touched by it.
        try database.appendReceipts(1...5, of: app)
        #expect(try control.catchUp().stopped.isEmpty)
        _ = try appender.append([app.submission([Event.sample(at: Event.sampleTime + 9, install: install)])])
        try database.appendReceipts(6...9, of: app)
        try expectStopped(
            at: head + 6, try control.catchUp().stopped, because: "req-1 of install \(install) cannot be read",
            in: database)
        try control.rebuild().expectSwapped()
        try traffic.expectOracle()
        try database.expectLevel()
    }
}
