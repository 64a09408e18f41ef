import Accounts
import EventLog
import Postgres
import Projections
import Sends
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Attachments and the way to the phone")
struct MediaAndDelayTests {
    private let database: TestDatabase
    private let app: TestApp

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp()
    }

    private func receipt(
        after seconds: Double = 0, via: Via = .serviceExtension, media: Media? = nil, sentAt: Timestamp? = nil,
        campaign: String? = nil, variant: String? = nil, install: UUID = .random()
    ) -> Event {
        var event = Event.sample(
            at: Event.sampleTime + Int64(seconds * 1_000_000), install: install,
            interaction: .received(Receipt(via: via, media: media)))
        event.notification.sentAt = sentAt
        event.notification.campaign = campaign
        event.notification.variant = variant
        return event
    }

    private func store(_ events: [Event]) throws {
        _ = try database.appender().append([app.submission(events)])
        let control = ProjectionControl(url: try database.url(), log: .silent)
        #expect(try control.catchUp().stopped.isEmpty)
        var connection = try database.session(nil)
        let report = try Verifier().verify(on: &connection)
        #expect(report.isProved, "\(report)")
    }

    private func tell(_ id: String, campaign: String, variant: String? = nil, at seconds: Double) throws {
        var send = Send(id: id)
        (send.campaign, send.variant) = (campaign, variant)
        send.sentAt = Event.sampleTime + Int64(seconds * 1_000_000)
        var connection = try database.session(.ingest)
        _ = try SendStore.append(
            [send], SendStore.Arrival(app: app.id, key: nil, receivedAt: Event.sampleTime), on: &connection)
    }

    @Test(
        "media are told by the first event with an outcome: format, reason, sizes and times; absurd sizes stop nothing")
    func media() throws {
        defer { database.drop() }
        let install = UUID.random()
        var events = [
            receipt(
                media: Media(
                    kind: .image, format: "jpg", outcome: .attached, bytes: 120_344, ms: 420, network: .cellular)),
            receipt(media: Media(kind: .image, format: "jpg", outcome: .attached, bytes: 79_656, network: .cellular)),
            receipt(media: Media(kind: .video, format: "mp4", outcome: .skipped, reason: .tooLarge, ms: 0)),
            // Only the first outcome counts.
            receipt(media: Media(outcome: .failed, reason: .network, ms: 30_000), install: install),
            receipt(
                after: 5, via: .deliveredList, media: Media(kind: .image, format: "png", outcome: .attached, bytes: 9),
                install: install),
            .sample(at: Event.sampleTime + 9_000_000, install: install, interaction: .opened(launch: nil)),
        ]
        events += (0..<5).map { _ in receipt(media: Media(kind: .audio, outcome: .attached, bytes: .max, ms: 600_000)) }
        try store(events)
        #expect(
            try database.analystRows(
                """
                SELECT kind, format, network, outcome, reason, deliveries, responded, received, received_responded,
                    bytes, ms, timed, mean_seconds
                FROM media_funnel ORDER BY kind, outcome
                """) == [
                    #"("","","",failed,network,1,1,1,1,0,30000,1,30.0000)"#,
                    #"(audio,"","",attached,"",5,0,5,0,10737418235,3000000,5,600.0000)"#,
                    #"(image,jpg,cellular,attached,"",2,0,2,0,200000,420,1,0.4200)"#,
                    #"(video,mp4,"",skipped,too_large,1,0,1,0,0,0,1,0.0000)"#,
                ])
    }

    @Test("a delay is told by the events, else by the newest send of the campaign and variant before the receipt")
    func delays() throws {
        defer { database.drop() }
        let sent = Event.sampleTime
        let twice = UUID.random()
        var events = (1...9).map { receipt(after: Double($0), sentAt: sent, campaign: "told") }
        events.append(receipt(after: 600, sentAt: sent, campaign: "told"))
        // A clock that is wrong; a receipt by another door; a later receipt by the extension, and one that is silent.
        events.append(receipt(after: -30, sentAt: sent, campaign: "told"))
        events.append(receipt(after: 3, via: .deliveredList, sentAt: sent, campaign: "told"))
        events.append(receipt(after: 3, via: .background, sentAt: sent, campaign: "told"))
        events.append(receipt(after: 1, via: .foreground, campaign: "sends", variant: "a", install: twice))
        events.append(receipt(after: 40, campaign: "sends", variant: "a", install: twice))
        events.append(receipt(after: 20, campaign: "sends", variant: "a"))
        events.append(receipt(after: 20, campaign: "sends"))
        events.append(receipt(after: 20, campaign: "nothing"))
        try store(events)
        func rows() throws -> [String] {
            try database.analystRows(
                """
                SELECT campaign, variant, delayed, negative, round(median_seconds), round(p90_seconds), count(*) OVER ()
                FROM send_delays WHERE app = 'chat' AND day = '2026-11-20' ORDER BY campaign, variant
                """)
        }
        // Of eleven: 0 (from −30), 1 to 9, 600.
        #expect(try rows() == [#"(told,"",11,1,5,9,1)"#])
        try tell("1", campaign: "sends", variant: "a", at: 0)
        try tell("2", campaign: "sends", variant: "a", at: 30)
        try tell("3", campaign: "sends", variant: "b", at: 0)
        try tell("4", campaign: "told", at: 0)
        // One took 20 s from the first send, one 10 s from the second.
        let found = try rows()
        #expect(found.count == 2 && found.last == #"(told,"",11,1,5,9,2)"#)
        let seconds = try database.analystRows(
            """
            SELECT delayed, negative, abs(median_seconds - 10) <= 1, abs(p90_seconds - 20) <= 2 FROM send_delays
            WHERE campaign = 'sends'
            """)
        #expect(seconds == ["(2,0,t,t)"])
        // One that was told later than it came, and before it was received, takes the place of the older one.
        // One at the very moment of the receipt is not before it.
        for (id, seconds) in [("5", 15.0), ("6", 20)] {
            try tell(id, campaign: "sends", variant: "a", at: seconds)
            let median: Double = try database.value(
                "SELECT median_seconds::float8 FROM analytics.send_delays WHERE campaign = 'sends'")
            #expect(abs(median - 5) <= 0.5, "\(id)")
        }
    }
}
