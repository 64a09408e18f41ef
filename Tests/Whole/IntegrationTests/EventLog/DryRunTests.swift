import Accounts
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("A dry run")
struct DryRunTests {
    private static let erased = UUID(high: 0x8f2f_6f0e_6a0c_4d3a, low: 0x9a52_0d6c_2f6f_7a11)
    private static let later = TestDatabase.noon(2200, 1, 1)

    private func noon(_ month: Int, _ day: Int) -> Timestamp { TestDatabase.noon(2011, month, day) }

    /// Everything that a commit could leave behind.
    private func traces(_ database: TestDatabase) throws -> [Int64] {
        try [
            "log.event", "log.batch", "log.batch_tally", "log.word", "log.device", "log.context", "log.rejected",
            "log.client_drop",
        ].map { try database.value(Statement("SELECT count(*) FROM \($0)", [])) }
    }

    @Test("says of each event what appending it then says, and leaves nothing behind")
    func same() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        for month in [1, 2] { try database.make(TestDatabase.month(2011, month)) }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        let appender = try database.appender()
        let stored = Event.sample(at: noon(2, 1))
        let storedInClosed = Event.sample(at: noon(1, 5))
        _ = try appender.append([app.submission([stored, storedInClosed])])
        // Of another app it is another event.
        let foreign = Event.sample(at: noon(2, 7))
        _ = try appender.append([other.submission([foreign])])
        try database.close(TestDatabase.month(2011, 1))
        try database.erase(Self.erased, of: app)

        let fresh = Event.sample(at: noon(2, 2), category: "NEVER_HEARD_OF")
        let tooOld = Event.sample(at: noon(1, 31))
        let before = Event.sample(at: noon(2, 2), install: Self.erased)
        let submission = app.submission([
            fresh, stored, fresh, storedInClosed, tooOld, tooOld, before, foreign,
            Event.sample(at: Self.later, install: Self.erased), Event.sample(at: noon(1, 9), occurredAt: noon(2, 9)),
            Event.sample(at: Self.later, occurredAt: noon(2, 3), install: Self.erased),
        ])
        let untouched = try traces(database)
        var connection = try database.session(.ingest)
        // Twice: it must not find what it looked at itself.
        for _ in 1...2 {
            let said = try DryRun.verdicts(of: submission, on: &connection).each(of: submission)
            #expect(try traces(database) == untouched)
            #expect(
                said.map(\.reason) == [nil, nil, nil, nil, .tooOld, .tooOld, .erased, nil, nil, .tooOld, .erased])
            #expect(said[0] == .accepted && said[1] == .duplicate && said[2] == .duplicate && said[3] == .duplicate)
        }
        let said = try DryRun.verdicts(of: submission, on: &connection).each(of: submission)
        #expect(try appender.append([submission]) == [said])
        #expect(try DryRun.verdicts(of: app.submission([]), on: &connection).count == 0)
        // Whoever asks next finds the session as it was.
        #expect(try connection.query("SHOW enable_seqscan")[0].get(0) == "on")
    }

    @Test("looks each event up by the index, however many there are")
    func plan() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let events = (0..<1000).map { Event.sample(at: noon(2, 1 + $0 % 20)) }
        _ = try database.appender().append([app.submission(events)])
        var connection = try database.session(.ingest)
        try connection.execute(script: "SET statement_timeout = '20s'")
        let all = app.submission(events)
        let said = try DryRun.verdicts(of: all, on: &connection).each(of: all)
        #expect(said == [Verdict](repeating: .duplicate, count: 1000))
    }
}
