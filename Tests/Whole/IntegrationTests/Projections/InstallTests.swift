import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

@Suite("Installs")
struct InstallTests {
    private let database: TestDatabase
    private let app: TestApp
    private let control: ProjectionControl
    /// Noon in UTC, on 2026-11-20.
    private let noon = TestDatabase.noon(2026, 11, 20)

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp("shop", timeZone: "Asia/Bangkok")
        control = ProjectionControl(url: try database.url(), log: .silent)
    }

    private static let hour: Int64 = 3_600_000_000

    private func event(
        _ interaction: Interaction, hours: Double, install: Int, campaign: String? = nil,
        authorization: Authorization? = nil, id: UUID = .random()
    ) -> Event {
        let at = noon + Int64(hours * Double(Self.hour))
        var event = Event.sample(at: at, install: UUID(high: 7, low: UInt64(install)), interaction: interaction)
        event.id = id
        event.source = Source(
            installID: event.source.installID, platform: "ios", appVersion: hours < 0 ? "1.0" : "2.0", locale: "th-TH",
            timeZone: "Asia/Bangkok", authorization: authorization)
        event.notification = Notification()
        if interaction.type != .permissionChanged {
            event.notification.id = "n\(hours)"
            event.notification.category = "NEWS"
            event.notification.campaign = campaign
        }
        return event
    }

    private func append(_ events: [Event], receivedAt: Timestamp = Event.sampleTime) throws {
        _ = try database.appender().append([app.submission(events, receivedAt: receivedAt)])
        #expect(try control.catchUp().stopped.isEmpty)
        try expectProved()
    }

    private func expectProved() throws {
        var connection = try database.session(nil)
        let report = try Verifier().verify(on: &connection)
        #expect(report.isProved, "\(report)")
    }

    private func days() throws -> [String] {
        try database.analystRows(
            "SELECT day, active, authorized, denied, unsaid, turned_off, turned_on FROM install_days ORDER BY day")
    }

    private func muted() throws -> [String] {
        try database.analystRows(
            "SELECT day, category, campaign, installs, received_nothing FROM muted_after ORDER BY day, campaign")
    }

    private let receipt = Interaction.received(Receipt(via: .serviceExtension))
    private let off = Interaction.permissionChanged(to: .denied, from: .authorized)

    @Test(
        "turn notifications off after what they last received, whatever comes late, twice or on the other side of midnight"
    )
    func turnedOff() throws {
        defer { database.drop() }
        // In Bangkok it is 19:00; midnight is five hours later.
        let change = event(off, hours: 6, install: 1)
        try append([
            event(receipt, hours: 0, install: 1, campaign: "spring", authorization: .authorized), change,
            event(receipt, hours: 0, install: 2, campaign: "spring", authorization: .authorized),
            event(.opened(launch: .cold), hours: 1, install: 3),
        ])
        #expect(try days() == ["(2026-11-20,3,2,0,1,0,0)", "(2026-11-21,1,0,1,0,1,0)"])
        #expect(try muted() == ["(2026-11-21,NEWS,spring,1,0)"])
        #expect(
            try database.analystRows(
                """
                SELECT first_seen, last_seen, app_version, locale, time_zone, "authorization", authorization_since
                    FROM installs
                WHERE platform = 'ios' ORDER BY install_id
                """) == [
                    "(\"2026-11-20 12:00:00+00\",\"2026-11-20 18:00:00+00\",2.0,th-TH,Asia/Bangkok,denied,\"2026-11-20 18:00:00+00\")",
                    "(\"2026-11-20 12:00:00+00\",\"2026-11-20 12:00:00+00\",2.0,th-TH,Asia/Bangkok,authorized,)",
                    "(\"2026-11-20 13:00:00+00\",\"2026-11-20 13:00:00+00\",2.0,th-TH,Asia/Bangkok,,)",
                ])
        // A later receipt that arrives late, a silent push, one after the change, and the change again.
        try append([
            event(receipt, hours: 5.9, install: 1, campaign: "summer"), change,
            event(.received(Receipt(via: .background)), hours: 5.95, install: 1, campaign: "sync"),
            event(receipt, hours: 6.1, install: 1, campaign: "autumn"),
        ])
        #expect(try muted() == ["(2026-11-21,NEWS,summer,1,0)"])
        // An earlier change, after nothing for a day: of a day's changes the first counts.
        try append([event(off, hours: 5.1, install: 2), event(off, hours: -30, install: 1)])
        #expect(
            try muted() == [
                "(2026-11-19,\"\",\"\",1,1)", "(2026-11-21,NEWS,spring,1,0)", "(2026-11-21,NEWS,summer,1,0)",
            ])
        try append([event(.permissionChanged(to: .authorized, from: .denied), hours: 7, install: 1)])
        #expect(try days().last == "(2026-11-21,2,1,1,0,2,1)")
        #expect(
            try database.analystRows(
                "SELECT \"authorization\", authorization_since FROM installs ORDER BY install_id LIMIT 1")
                == ["(authorized,\"2026-11-20 19:00:00+00\")"])
    }

    @Test("move to their days in another time zone without the log, and come back the same")
    func timeZone() throws {
        defer { database.drop() }
        try append(
            (0..<60).map { hour in event(receipt, hours: Double(hour), install: hour % 7, campaign: "c\(hour % 3)") }
                + (0..<14).map { event(off, hours: Double($0) * 4.3, install: $0 % 7) })
        let before = [try days(), try muted()]
        for zone in ["America/Los_Angeles", "Asia/Kathmandu", "Asia/Bangkok"] {
            try database.setZone(of: "shop", to: zone)
            try control.finishZoneChanges()
            try expectProved()
            let after = [try days(), try muted()]
            #expect((after == before) == (zone == "Asia/Bangkok"))
        }
        guard case .swapped = try control.rebuild([]) else { throw NotSwapped() }
        #expect([try days(), try muted()] == before)
    }

    private struct NotSwapped: Error {}

    @Test("that are erased leave no trace, and those whose months are dropped stay in the sums")
    func removal() throws {
        defer { database.drop() }
        // On the last day of October, with a change on the first of November.
        let october = -20.0 * 24
        try append(
            [
                event(receipt, hours: october, install: 1, campaign: "old", authorization: .authorized),
                event(off, hours: october + 20, install: 1),
                event(receipt, hours: october + 1, install: 2, campaign: "old"),
                event(receipt, hours: 0, install: 2, campaign: "new"), event(off, hours: 1, install: 2),
                event(receipt, hours: 0, install: 3, campaign: "new"), event(off, hours: 1, install: 3),
            ], receivedAt: noon + -20 * 24 * Self.hour)
        let older = { () throws in
            try database.analystRows("SELECT right(install_id::text, 1), may_be_older FROM installs ORDER BY 1")
        }
        // The third came long after the log began.
        #expect(try older() == ["(1,t)", "(2,t)", "(3,f)"])
        let receiptOfErasure = try ErasureRun(control).run(app: app.id, install: UUID(high: 7, low: 3))
        #expect(receiptOfErasure.own.events == 2)
        try expectProved()
        let before = [try days(), try muted()]
        #expect(before[1].count == 2 && before[1].last == "(2026-11-20,NEWS,new,1,0)")
        #expect(try database.analystRows("SELECT FROM installs").count == 2)

        var dropped = 0
        try RetentionRun(control).run(days: 5, now: noon) { outcome in dropped += outcome.isDropped ? 1 : 0 }
        #expect(dropped == 1)
        #expect([try days(), try muted()] == before)
        try expectProved()
        // What is left begins in November.
        #expect(try older() == ["(2,t)"])
        // A late event of a sealed day adds nothing to it.
        try append([event(receipt, hours: october + 19.9, install: 1, campaign: "late")])
        #expect([try days(), try muted()] == before)
        guard case .swapped = try control.rebuild([]) else { throw NotSwapped() }
        #expect([try days(), try muted()] == before)

        // Nor does one whose phone believes that it is another month. As long as the log has it, the day is remembered,
        // also where only a generation that is being built has met it.
        var late = event(receipt, hours: october + 19.95, install: 1, campaign: "late")
        late.deviceAt = noon + Self.hour
        _ = try database.appender().append([app.submission([late], receivedAt: noon + Self.hour)])
        var connection = try ProjectionSession.open(url: try database.url(), role: nil, purpose: "tests", log: .silent)
        let generation = try GenerationBuilder.begin(Projectors.all, on: &connection)
        let step = Step(choice: .building(generation), last: .max, mostShards: 64, mostEvents: 50_000)
        while try step.take(.plain, on: &connection) != nil {}
        try SealedInstallDays.forgetGone(on: &connection)
        #expect(
            try database.column("SELECT last_device_at FROM projection.sealed_install_day", of: Timestamp.self)
                == [late.deviceAt])
    }
}
