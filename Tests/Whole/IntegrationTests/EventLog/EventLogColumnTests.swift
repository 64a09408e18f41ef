import CatalogueSupport
import Envelopes
import Foundation
import Migrations
import Postgres
import Projections
import Telemetry
import TestSupport
import Testing
import Values

@testable import EventLog

@Suite("What is stored of an event")
struct EventLogColumnTests {
    typealias UUID = Values.UUID
    typealias Notification = Telemetry.Notification

    private static let install = UUID("8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11")!

    private static let source = Source(
        installID: install, platform: "ios", osVersion: "26.1", appVersion: "4.2.0", sdk: "bellwether-swift/0.9.0",
        deviceModel: "iPhone17,1", locale: "th-TH", timeZone: "Asia/Bangkok", fid: "fid-1", authorization: .authorized)

    private static let notification = Notification(
        fcmMessageID: "0:1732181410001%31bd1c96", deliveryID: "dlv-1", id: "req-1", category: "PW_STORIES",
        thread: "promo", campaign: "black-friday", variant: "b", analyticsLabel: "label", topic: "news",
        apnsID: "apns-1", collapseID: "col-1", interruptionLevel: "time-sensitive", origin: .remote, alert: true,
        sentAt: Timestamp(microseconds: 1_795_167_000_000_000), relevanceScore: 0.75, targetContentID: "window-1",
        summaryArgument: "Photos")

    /// What the views say of `source` and `notification`, and of the times below.
    private static let common = """
        "app": "chat", "device_at": "2026-11-20T09:30:10+00:00", "occurred_at": "2026-11-20T09:31:10.000001+00:00",
        "received_at": "2026-11-20T09:31:11+00:00", "time_source": "corrected", "seq": 17, "batch": 1,
        "install_id": "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11", "notification_key": "1732181410001",
        "fcm_message_id": "0:1732181410001%31bd1c96", "delivery_id": "dlv-1", "notification_id": "req-1",
        "category": "PW_STORIES", "thread": "promo", "campaign": "black-friday", "variant": "b", "origin": "remote",
        "platform": "ios", "app_version": "4.2.0", "os_version": "26.1", "sdk": "bellwether-swift/0.9.0",
        "device_model": "iPhone17,1", "locale": "th-TH", "time_zone": "Asia/Bangkok", "authorization": "authorized",
        "fid": "fid-1", "alert": true, "notification_sent_at": "2026-11-20T09:30:00+00:00",
        "analytics_label": "label", "topic": "news", "apns_id": "apns-1", "collapse_id": "col-1",
        "interruption_level": "time-sensitive", "relevance_score": 0.75, "target_content_id": "window-1",
        "summary_argument": "Photos", "extra": {"mood": ["ok", null]}
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

    @Test("each valid value of each member, of each type that has it, is read back as it was sent")
    func everySample() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        var sent: [String: (column: String, value: Sample.Value, of: String)] = [:]
        var texts: [String] = []
        for type in EventType.allCases {
            for member in Member.allCases where member.declaration.types.contains(type) && member != .eventID {
                // What the event itself must say outranks what its source says.
                guard let column = member.declaration.column,
                    !type.required.contains(where: { $0 != member && $0.declaration.column == column })
                else { continue }
                for sample in member.samples {
                    guard case .read(let value) = sample.outcome else { continue }
                    if member == .type, value != .word(type.wire) { continue }
                    let id = UUID(high: 1, low: UInt64(texts.count)).description
                    sent[id] = (column, value, "\(type.wire) \(sample)")
                    texts.append(EventText(type.wire, id: id).with(sample).text)
                }
            }
        }
        for part in stride(from: 0, to: texts.count, by: 500).map({ texts[$0..<min($0 + 500, texts.count)] }) {
            let body = #"{"source":{"install_id":"\#(Self.install)"},"events":[\#(part.joined(separator: ","))]}"#
            let decoded = try EnvelopeDecoder().decode(
                body: Array(body.utf8), receivedAt: Event.sampleTime + 60_000_000)
            let events = decoded.items.compactMap { if case .event(let event) = $0 { event } else { nil } }
            #expect(events.count == part.count)
            #expect(try database.appender().append([app.submission(events)]) == [events.map { _ in .accepted }])
        }
        var connection = try database.connect(as: TestPostgres.analyst)
        for row in try connection.query("SELECT event_id::text, to_jsonb(e)::text FROM events AS e") {
            let asked = try #require(sent.removeValue(forKey: try row.get(0)))
            let found = try object(try row.get(1))[asked.column]
            let isSame =
                switch asked.value {
                case .uuid(let id): found as? String == id.description
                case .time(let time): (found as? String).flatMap { Timestamp(rfc3339: $0) } == time
                case .text(let text), .word(let text): found as? String == text
                case .words(let words): (found as? [String]).map(Set.init) == Set(words)
                case .boolean(let flag): found as? Bool == flag
                case .integer(let number): (found as? NSNumber)?.int64Value == number
                case .number(let number): (found as? NSNumber)?.doubleValue == number
                case .decimal(let millionths): (found as? NSNumber)?.doubleValue == Double(millionths) / 1e6
                case .object: false
                }
            #expect(isSame, "\(asked.of) came back as \(found.map { "\($0)" } ?? "nothing")")
        }
        #expect(sent.isEmpty)
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
        #expect(Set(events.map(\.type)) == Set(EventType.allCases.filter(\.isOfDelivery)))
        #expect(try database.appender().append([app.submission(events)]) == [events.map { _ in .accepted }])

        var connection = try database.connect(as: TestPostgres.analyst)
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

    @Test("an event about the install itself has no notification, and says what is allowed now and was before")
    func permission() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let event = Event(
            id: UUID(high: 0, low: 7), deviceAt: Event.sampleTime, occurredAt: Event.sampleTime,
            receivedAt: Event.sampleTime, timeSource: .device,
            source: Source(installID: Self.install, platform: "ios", authorization: .authorized),
            notification: Notification(), interaction: .permissionChanged(to: .denied, from: .provisional))
        let appender = try database.appender()
        #expect(try appender.append([app.submission([event])]) == [[.accepted]])
        #expect(try appender.append([app.submission([event])]) == [[.duplicate]])
        var connection = try database.connect(as: TestPostgres.analyst)
        let row = try connection.query("SELECT jsonb_strip_nulls(to_jsonb(e))::text FROM events AS e")[0]
        #expect(
            try object(row.get(0))
                == object(
                    """
                    {"app": "chat", "event_id": "00000000-0000-0000-0000-000000000007", "type": "permission.changed",
                    "device_at": "2026-11-20T09:30:10+00:00", "occurred_at": "2026-11-20T09:30:10+00:00",
                    "received_at": "2026-11-20T09:30:10+00:00", "time_source": "device", "batch": 1,
                    "install_id": "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11", "platform": "ios", "authorization": "denied",
                    "previous": "provisional"}
                    """))
        // It is counted with its batch and makes no delivery, by either route.
        _ = try database.projections().catchUp()
        try database.expectLevel()
        #expect(try database.value("SELECT count(*) FROM analytics.deliveries", as: Int64.self) == 0)
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
        var connection = try database.connect(as: TestPostgres.analyst)
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

    @Test("every word of every code is read back, and every other value of a code shows nothing")
    func names() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        _ = try database.appender().append([app.submission([Event.sample(interaction: .expanded)])])
        var connection = try database.connect()
        for member in Member.allCases {
            guard case .code(let words) = member.declaration.kind, let column = member.declaration.column else {
                continue
            }
            let types = EventType.allCases.filter { member.declaration.types.contains($0) }
            let (field, bits): (String, Declaration.Bits)
            switch member.declaration.storage {
            case .common(let place): (field, bits) = ("codes", place)
            case .own(let place): (field, bits) = ("own", place)
            default: continue
            }
            #expect(words.count < 1 << bits.count)
            let type = try #require(types.last)
            for code in 0..<(1 << bits.count) {
                // With every other bit of the field set: none reaches beyond its place.
                try connection.execute(
                    script: """
                        BEGIN; SELECT log.open_gate();
                        UPDATE log.event SET own = 2147483647;
                        UPDATE log.event SET codes = (2147483647 & ~(31 << 10)) | (\(type.rawValue) << 10);
                        UPDATE log.event SET \(field) = (\(field) & ~(\((1 << bits.count) - 1) << \(bits.first))) | (\(code) << \(bits.first));
                        COMMIT
                        """)
                let shown: String? = try connection.query(
                    "SELECT \(identifier: column) FROM analytics.events")[0].optional(0)
                #expect(shown == (1...words.count ~= code ? words[code - 1] : nil), "\(member) \(code)")
            }
        }
    }

    @Test("a number of any size, and an FCM message id in any spelling, is read back as it was sent")
    func spellings() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let numbers: [Int64] = [0, 1, Int64(Int32.max) - 1, Int64(Int32.max), Int64(Int32.max) + 1, 1 << 53, Int64.max]
        let ids = [
            "17", "0:17%31bd1c96", "0:17%31bd1c9631bd1c96", "0:17%31BD1C96", "0:17%31bd1c9", "0:17%0",
            "projects/p/messages/17",
            "projects/p/messages/0:17%ab", "0:%ab", "0:17%", "0:17%xy", "é%ab",
        ]
        let events = numbers.enumerated().map { place, number in
            var event = Event.sample(
                id: UUID(high: 1, low: UInt64(place)),
                interaction: .actionTapped(ActionTap(actionID: "A", actionIndex: number, actionCount: number)))
            event.seq = min(number, 1 << 53)
            return event
        }
        let receipts = numbers.enumerated().map { place, number in
            Event.sample(
                id: UUID(high: 2, low: UInt64(place)),
                interaction: .received(Receipt(media: Media(bytes: number), summaryArgumentCount: number)))
        }
        let messages = ids.enumerated().map { place, id in
            var event = Event.sample(id: UUID(high: 3, low: UInt64(place)))
            event.notification.fcmMessageID = id
            return event
        }
        for event in events + receipts + messages {
            #expect(try database.appender().append([app.submission([event])]) == [[.accepted]])
        }
        let first: [Int64] = try database.column("SELECT action_index FROM analytics.action_taps ORDER BY event_id")
        let second: [Int64] = try database.column("SELECT action_count FROM analytics.action_taps ORDER BY event_id")
        let counters: [Int64] = try database.column("SELECT seq FROM analytics.action_taps ORDER BY event_id")
        let bytes: [Int64] = try database.column("SELECT media_bytes FROM analytics.receipts ORDER BY event_id")
        let counts: [Int64] = try database.column(
            "SELECT summary_argument_count FROM analytics.receipts ORDER BY event_id")
        #expect([first, second, bytes, counts] == [numbers, numbers, numbers, numbers])
        #expect(counters == numbers.map { min($0, 1 << 53) })
        let stored: [String] = try database.column(
            "SELECT fcm_message_id FROM analytics.opens WHERE fcm_message_id IS NOT NULL ORDER BY event_id")
        #expect(stored == ids)
        let keys: [String] = try database.column(
            "SELECT notification_key FROM analytics.opens WHERE fcm_message_id IS NOT NULL ORDER BY event_id")
        #expect(keys == ids.map(FCMMessageID.normalized))
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
