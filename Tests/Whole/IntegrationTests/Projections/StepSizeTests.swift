import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

@Suite("Steps of any size")
struct StepSizeTests {
    /// All that the two generations hold, except for the key, which has a secret, and the generation itself.
    private static func rows(of generation: Int32, in database: TestDatabase) throws -> [String] {
        let columns = DeliveryTable.layout.stored.filter { $0 != "key" && $0 != "generation" }.map { "\"\($0)\"" }
        let query: String = """
            SELECT (\(columns.joined(separator: ", ")))::text FROM projection.delivery_\(generation)
            ORDER BY app, install_id, notification_key
            """
        return try database.column(Statement(query))
    }

    /// Folds everything into a new generation, and returns its number.
    private func fold(_ mostEvents: Int64, _ limits: Step.Limits, in database: TestDatabase) throws -> Int32 {
        var connection = try ProjectionSession.open(url: try database.url(), role: nil, purpose: "tests", log: .silent)
        let generation = try GenerationBuilder.begin(Projectors.all, on: &connection)
        let step = Step(
            choice: .building(generation), last: .max, mostShards: 5, mostEvents: mostEvents, limits: limits)
        while try step.take(.plain, on: &connection) != nil {}
        let behind: Int64 = try database.value(
            """
            SELECT count(*) FROM projection.progress
            WHERE generation = \(generation) AND position < (SELECT max(number) FROM log.batch)
            """)
        #expect(behind == 0)
        return generation
    }

    @Test("give the same deliveries, state by state, whatever is read and written at once; and the recount agrees")
    func anySize() throws {
        let database = try TestDatabase.make(.withUsualShards)
        defer { database.drop() }
        let traffic = try Traffic(seeds: 1...24, in: database)
        try traffic.appendRest()
        #expect(try database.projections().catchUp().stopped.isEmpty)
        let steps = try Self.rows(of: 1, in: database)
        #expect(steps.count > 50)
        for (events, deliveries, bytes) in [(Int64(3), 2, 1), (100, 50, 2_000), (1_000_000, 8_192, 64 << 20)] {
            let limits = Step.Limits(
                reading: EventReader.Limits(events: events / 2 + 1, bytes: bytes), deliveries: deliveries)
            let generation = try fold(events, limits, in: database)
            #expect(try Self.rows(of: generation, in: database) == steps)
            var connection = try database.session(nil)
            let report = try Verifier().verify(.number(generation), on: &connection)
            #expect(report.isProved, "\(report.differing)")
            try GenerationBuilder.retire(generation, on: &connection)
        }
    }

    @Test("a delivery with ten thousand events ends the same, however they come")
    func manyEvents() throws {
        let database = try TestDatabase.make(.withUsualShards)
        defer { database.drop() }
        let app = try database.makeApp("chat")
        let install = UUID.random()
        let appender = try database.appender()
        for part in 0..<10 {
            let events = (0..<1_000).map { number in
                let at = Event.sampleTime + Int64((part * 1_000 + number) * 7_919 % 10_000) * 1_000_000
                return Event.sample(
                    at: at, install: install,
                    interaction: number % 3 == 0
                        ? .actionTapped(ActionTap(actionID: "A\(number % 5)")) : .opened(launch: nil))
            }
            _ = try appender.append([app.submission(events)])
        }
        #expect(try database.projections().catchUp().stopped.isEmpty)
        let steps = try Self.rows(of: 1, in: database)
        #expect(steps.count == 1)
        let generation = try fold(900, Step.Limits(), in: database)
        #expect(try Self.rows(of: generation, in: database) == steps)
    }

    @Test("an event that the log has lost, or has in another batch, stops it")
    func lost() throws {
        let database = try TestDatabase.make(.withUsualShards)
        defer { database.drop() }
        let traffic = try Traffic(seeds: 1...3, in: database)
        try traffic.appendRest()
        var connection = try ProjectionSession.open(url: try database.url(), role: nil, purpose: "tests", log: .silent)
        let generation = try GenerationBuilder.begin(Projectors.all, on: &connection)
        let step = Step(choice: .building(generation), last: .max, mostShards: 16, mostEvents: 1_000_000)
        for change in [
            "UPDATE log.event SET batch_id = batch_id + 1 WHERE event_id = (SELECT event_id FROM log.event ORDER BY event_id LIMIT 1)",
            "DELETE FROM log.event WHERE event_id = (SELECT event_id FROM log.event ORDER BY event_id LIMIT 1)",
        ] {
            try database.run("BEGIN; SELECT log.open_gate(); \(change); COMMIT")
            #expect {
                try step.take(.plain, on: &connection)
            } throws: { error in
                if case StepError.wrongCount? = error as? StepError { true } else { false }
            }
        }
        #expect(
            try database.value("SELECT max(position) FROM projection.progress WHERE generation = 2", as: Int64.self)
                == 0)
    }
}
