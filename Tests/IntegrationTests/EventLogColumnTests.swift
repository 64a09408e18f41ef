import EventLog
import Foundation
import Migrations
import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("What is stored of an event")
struct EventLogColumnTests {
    typealias UUID = Telemetry.UUID
    typealias Notification = Telemetry.Notification

    private static let install = UUID("8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11")!

    private static let source = Source(
        installID: install, platform: "ios", osVersion: "19.1", appVersion: "4.2.0", sdk: "bellwether-swift/1.0.0",
        deviceModel: "iPhone17,1", locale: "th-TH", timeZone: "Asia/Bangkok", fid: "fid-1", authorization: .authorized)

    private static let notification = Notification(
        fcmMessageID: "0:1732181410001%31bd1c96", deliveryID: "dlv-1", id: "req-1", category: "PW_STORIES",
        thread: "promo", campaign: "black-friday", variant: "b", analyticsLabel: "label", topic: "news",
        apnsID: "apns-1", collapseID: "col-1", interruptionLevel: "time-sensitive", origin: .remote, alert: true,
        sentAt: Timestamp(microseconds: 1_795_167_000_000_000))

    /// What the views say of `source` and `notification`, and of the times below.
    private static let common = """
        "app": "chat", "device_at": "2026-11-20T09:30:10+00:00", "occurred_at": "2026-11-20T09:31:10.000001+00:00",
        "received_at": "2026-11-20T09:31:11+00:00", "time_source": "corrected", "seq": 17, "batch": 1,
        "install_id": "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11", "notification_key": "1732181410001",
        "fcm_message_id": "0:1732181410001%31bd1c96", "delivery_id": "dlv-1", "notification_id": "req-1",
        "category": "PW_STORIES", "thread": "promo", "campaign": "black-friday", "variant": "b", "origin": "remote",
        "platform": "ios", "app_version": "4.2.0", "os_version": "19.1", "sdk": "bellwether-swift/1.0.0",
        "device_model": "iPhone17,1", "locale": "th-TH", "time_zone": "Asia/Bangkok", "authorization": "authorized",
        "fid": "fid-1", "alert": true, "notification_sent_at": "2026-11-20T09:30:00+00:00",
        "analytics_label": "label", "topic": "news", "apns_id": "apns-1", "collapse_id": "col-1",
        "interruption_level": "time-sensitive", "extra": {"mood": ["ok", null]}
        """

    /// An event of each type with every member that it can have, and what the views say of its own members.
    private static let all: [(interaction: Interaction, view: String, own: String)] = [
        (
            .received(
                Receipt(
                    via: .serviceExtension, presentation: [.sound, .banner], fetchResult: .noData,
                    media: Media(
                        kind: .image, format: "jpeg", outcome: .timedOut, reason: .tooLarge, bytes: 1 << 40, ms: 420,
                        network: .cellular), summaryArgumentCount: 3)), "receipts",
            """
            "type": "notification.received", "via": "service_extension", "presentation": ["banner", "sound"],
            "fetch_result": "no_data", "media_kind": "image", "media_format": "jpeg", "media_outcome": "timed_out",
            "media_reason": "too_large", "media_bytes": 1099511627776, "media_ms": 420, "media_network": "cellular",
            "summary_argument_count": 3
            """
        ),
        (.expanded, "opens", #""type": "notification.expanded""#),
        (.opened(launch: .warm), "opens", #""type": "notification.opened", "launch": "warm""#),
        (.dismissed, "opens", #""type": "notification.dismissed""#),
        (
            .actionTapped(
                ActionTap(
                    actionID: "REPLY", actionIndex: 2, actionCount: 9_000_000_000, activation: .background,
                    destructive: false, authenticationRequired: true, textInput: true, handledIn: .contentExtension,
                    launch: .cold)), "action_taps",
            """
            "type": "action.tapped", "action_id": "REPLY", "action_index": 2, "action_count": 9000000000,
            "activation": "background", "destructive": false, "authentication_required": true, "text_input": true,
            "handled_in": "content_extension", "launch": "cold"
            """
        ),
        (
            .storyStarted(StoryStart(pageCount: 1000, declaredPageCount: 0, loops: true)), "story_events",
            """
            "type": "story.started", "page_count": 1000, "declared_page_count": 0, "loops": true,
            "fallback_shown": false
            """
        ),
        (
            .pageShown(PageShown(pageIndex: 999, declaredMS: 5000, cause: .previous)), "story_events",
            #""type": "story.page_shown", "page_index": 999, "declared_ms": 5000, "cause": "prev", "fallback_shown": false"#
        ),
        (
            .storyActionTapped(StoryActionTap(pageIndex: 0, linkScheme: "https", linkHost: "example.org")),
            "action_taps and story_events",
            """
            "type": "story.action_tapped", "page_index": 0, "link_scheme": "https", "link_host": "example.org",
            "fallback_shown": false
            """
        ),
        (.storyFinished, "story_events", #""type": "story.finished", "fallback_shown": false"#),
        (
            .fallbackShown(reason: .noValidPage), "story_events",
            #""type": "story.fallback_shown", "reason": "no_valid_page", "fallback_shown": true"#
        ),
    ]

    private func object(_ text: String) throws -> [String: NSObject] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: NSObject])
    }

    @Test(
        "an event of each type, with every member set, is read back from every view that has its type, member by member"
    )
    func everyMember() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let events = Self.all.enumerated().map { place, entry in
            Event(
                id: UUID(high: 0, low: UInt64(place)), deviceAt: Event.sampleTime,
                occurredAt: Event.sampleTime + 60_000_001, receivedAt: Event.sampleTime + 61_000_000,
                timeSource: .corrected, seq: 17, source: Self.source, notification: Self.notification,
                interaction: entry.interaction, extra: Array(#"{"mood": ["ok", null]}"#.utf8))
        }
        #expect(Set(events.map(\.type)) == Set(EventType.allCases))
        #expect(try database.appender().append([app.submission(events)]) == [events.map { _ in .accepted }])

        var connection = try database.connect(as: "bellwether_analyst")
        for view in ["events", "receipts", "opens", "action_taps", "story_events"] {
            var rows: [String: [String: NSObject]] = [:]
            let shown = try connection.query(
                "SELECT event_id::text, jsonb_strip_nulls(to_jsonb(v))::text FROM \(identifier: view) AS v")
            for row in shown { rows[try row.get(0)] = try object(try row.get(1)) }
            var columns: Set<String> = []
            let names = try connection.query(
                """
                SELECT attname FROM pg_attribute
                WHERE attrelid = ('analytics.' || quote_ident(\(view)))::regclass AND attnum > 0
                """)
            for row in names { columns.insert(try row.get(0)) }
            var expected: [String: [String: NSObject]] = [:]
            for (place, entry) in Self.all.enumerated() where view == "events" || entry.view.contains(view) {
                let id = UUID(high: 0, low: UInt64(place)).description
                expected[id] = try object("{\"event_id\": \"\(id)\", \(Self.common), \(entry.own)}")
                    .filter { columns.contains($0.key) }
            }
            #expect(rows.keys.sorted() == expected.keys.sorted(), "\(view)")
            for (id, row) in rows { #expect(row == expected[id], "\(view) \(id)") }
        }
    }

    @Test("the columns of a view hold every member that its types can have")
    func columnsOfViews() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        for entry in Self.all {
            let own = try object("{\(Self.common), \(entry.own)}").keys.filter { $0 != "fallback_shown" }
            for view in ["events"] + entry.view.components(separatedBy: " and ") {
                let columns: [String] = try database.column(
                    "SELECT attname FROM pg_attribute WHERE attrelid = ('analytics.' || \(view))::regclass AND attnum > 0"
                )
                #expect(
                    Set(own).subtracting(columns).isEmpty, "\(view) lacks members of \(entry.interaction.type.name)")
            }
        }
    }

    @Test("what an event does not say is null, and each of the three ids can be the key")
    func sparse() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let notifications = [
            Notification(fcmMessageID: "1732181410001"),
            Notification(fcmMessageID: "projects/p/messages/0:5%a", id: "5"),
            Notification(deliveryID: "dlv-1"), Notification(deliveryID: "same", id: "same"), Notification(id: "req-1"),
        ]
        let events = notifications.enumerated().map { place, notification in
            Event(
                id: UUID(high: 0, low: UInt64(place)), deviceAt: Event.sampleTime, occurredAt: Event.sampleTime,
                receivedAt: Event.sampleTime, timeSource: .device, source: Source(installID: Self.install),
                notification: notification, interaction: .received(Receipt(presentation: [])))
        }
        _ = try database.appender().append([app.submission(events)])
        let common = """
            "app": "chat", "type": "notification.received", "device_at": "2026-11-20T09:30:10+00:00",
            "occurred_at": "2026-11-20T09:30:10+00:00", "received_at": "2026-11-20T09:30:10+00:00",
            "time_source": "device", "batch": 1, "install_id": "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11", "presentation": []
            """
        let own = [
            #""notification_key": "1732181410001", "fcm_message_id": "1732181410001""#,
            #""notification_key": "5", "fcm_message_id": "projects/p/messages/0:5%a", "notification_id": "5""#,
            #""notification_key": "dlv-1", "delivery_id": "dlv-1""#,
            #""notification_key": "same", "delivery_id": "same", "notification_id": "same""#,
            #""notification_key": "req-1", "notification_id": "req-1""#,
        ]
        var connection = try database.connect(as: "bellwether_analyst")
        let rows = try connection.query(
            "SELECT jsonb_strip_nulls(to_jsonb(e))::text FROM events AS e ORDER BY event_id")
        for (place, row) in rows.enumerated() {
            let id = UUID(high: 0, low: UInt64(place))
            #expect(try object(row.get(0)) == object("{\"event_id\": \"\(id)\", \(common), \(own[place])}"))
        }
        #expect(rows.count == own.count)
    }

    @Test("the longest and strangest texts are stored as they are")
    func texts() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let texts = [
            String(repeating: "x", count: Bounds.identifier), String(repeating: "👍", count: Bounds.identifier / 4),
            "'; DROP TABLE log.event; --", "{\"a\",NULL}", "tab\tand\\slash\u{1}", "é", "e\u{301}", "NULL",
        ]
        let events = texts.map { text in
            var event = Event.sample(category: text, interaction: .actionTapped(ActionTap(actionID: text)))
            event.notification.id = text
            event.notification.apnsID = text
            return event
        }
        #expect(try database.appender().append([app.submission(events)]) == [events.map { _ in .accepted }])
        for (event, text) in zip(events, texts) {
            let stored = try database.value(
                """
                SELECT ARRAY[category, action_id, notification_key, notification_id, apns_id]
                FROM analytics.events WHERE event_id = \(event.id)
                """, as: [String].self)
            #expect(stored.map { Array($0.utf8) } == [[UInt8]](repeating: Array(text.utf8), count: 5))
        }
    }

    @Test("the extremes of times and numbers are stored to the last digit")
    func extremes() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let last = Timestamp(microseconds: Timestamp.plausible.upperBound.microseconds - 1)
        for (place, time) in [Timestamp.plausible.lowerBound, last].enumerated() {
            var event = Event.sample(
                at: time, receivedAt: Event.sampleTime,
                interaction: .received(Receipt(media: Media(bytes: .max), summaryArgumentCount: .max)))
            event.seq = place == 0 ? 0 : 1 << 53
            #expect(try database.appender().append([app.submission([event])]) == [[.accepted]])
            var connection = try database.connect()
            let row = try connection.query(
                """
                SELECT device_at, occurred_at, media_bytes, summary_argument_count, seq
                FROM analytics.events WHERE event_id = \(event.id)
                """)[0]
            #expect(try row.get(0) == time)
            #expect(try row.get(1) == time)
            #expect(try row.get(2) == Int64.max)
            #expect(try row.get(3) == Int64.max)
            #expect(try row.get(4) == event.seq)
        }
    }

    // MARK: - Names of codes

    private static func words<Code: WireEnum>(_: Code.Type) -> [String] {
        #expect(Code.allCases.map(\.rawValue) == Array(1...Int16(Code.allCases.count)))
        return Code.allCases.map(\.wire)
    }

    @Test("the names of codes in the views are the words of the program's enumerations, in their order")
    func names() throws {
        let expected = [
            "type": Self.words(EventType.self), "time_source": Self.words(TimeSource.self),
            "origin": Self.words(Origin.self), "authorization": Self.words(Authorization.self),
            "via": Self.words(Via.self), "fetch_result": Self.words(FetchResult.self),
            "media_kind": Self.words(MediaKind.self), "media_outcome": Self.words(MediaOutcome.self),
            "media_reason": Self.words(MediaReason.self), "media_network": Self.words(MediaNetwork.self),
            "launch": Self.words(Launch.self), "activation": Self.words(Activation.self),
            "handled_in": Self.words(HandledIn.self), "cause": Self.words(PageCause.self),
            "fallback_reason": Self.words(FallbackReason.self),
        ]
        let view = try #require(Migrations.definitions.first { $0.name == "view_named_event" }).sql
        var found: [String: [String]] = [:]
        for match in view.matches(of: /\('\{([^}]*)\}'::text\[\]\)\[e\."?([a-z_]+)"?\] AS/) {
            found[String(match.2)] = match.1.split(separator: ",").map(String.init)
        }
        #expect(found == expected)
        let bits = view.matches(of: /e\.presentation & ([0-9]+) <> 0 THEN '([a-z]+)'/).map { match in
            (Int(match.1), String(match.2))
        }
        #expect(bits.map(\.1) == Self.words(PresentationOption.self))
        #expect(bits.map(\.0) == [1, 2, 4, 8, 16])
    }

    @Test("each set of presentation options is read back, the empty set as an empty list")
    func presentations() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let options = PresentationOption.allCases
        let sets = (0..<32).map { bits in options.filter { bits >> ($0.rawValue - 1) & 1 == 1 } }
        let events = sets.enumerated().map { place, set in
            Event.sample(
                id: UUID(high: 0, low: UInt64(place)), interaction: .received(Receipt(presentation: set.reversed())))
        }
        _ = try database.appender().append([app.submission(events)])
        let stored: [[String]] = try database.column("SELECT presentation FROM analytics.receipts ORDER BY event_id")
        #expect(stored == sets.map { $0.map(\.wire) })
    }
}
