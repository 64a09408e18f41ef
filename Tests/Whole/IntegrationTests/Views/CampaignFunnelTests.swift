import Accounts
import FunnelOracle
import Postgres
import Projections
import Sends
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The funnel of a campaign, from what was sent")
struct CampaignFunnelTests {
    private static let noon = Event.sampleTime  // 2026-11-20T09:30:10Z
    private static let day: Int64 = 86_400_000_000

    private func send(
        _ id: String, campaign: String? = nil, variant: String? = nil, label: String? = nil, recipients: Int64? = nil,
        messages: [String]? = nil, at time: Timestamp = noon
    ) -> Send {
        var send = Send(id: id)
        (send.campaign, send.variant, send.analyticsLabel) = (campaign, variant, label)
        (send.recipients, send.sentAt) = (recipients, time)
        send.messageIDs = messages?.map { Send.MessageID($0) }
        return send
    }

    private func row(
        _ message: String, _ instance: String = "fid", event: String = "MESSAGE_ACCEPTED", label: String? = nil,
        type: String? = "DISPLAY_NOTIFICATION", bulk: Int64? = nil, at time: Timestamp = noon
    ) -> FCMExportRow {
        var row = FCMExportRow(event: event, eventAt: time)
        row.bulkID = bulk
        (row.messageID, row.instanceID, row.messageType, row.analyticsLabel) = (message, instance, type, label)
        return row
    }

    private func tell(_ sends: [Send], of app: TestApp, in database: TestDatabase) throws {
        var connection = try database.session(.ingest)
        _ = try SendStore.append(
            sends, SendStore.Arrival(app: app.id, key: nil, receivedAt: Self.noon), on: &connection)
    }

    private func export(_ rows: [FCMExportRow], of app: TestApp, in database: TestDatabase) throws {
        var connection = try database.connect()
        _ = try FCMExportStore.append(rows, app: app.id, on: &connection)
    }

    private func counts(_ database: TestDatabase, _ more: String = "") throws -> [String] {
        try database.analystRows(
            """
            SELECT day, campaign, variant, sent, accepted, fcm_delivered, delivered, contradiction FROM campaign_funnel
            WHERE app = 'chat' \(more) ORDER BY day, campaign, variant
            """)
    }

    @Test("puts sends, FCM's word and deliveries side by side, and shows what contradicts")
    func sideBySide() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let sale = try app.word(.campaign, "sale")
        let b = try app.word(.variant, "b")
        try app.insert("campaign_funnel", ["campaign": sale, "delivered": 4, "received": 4, "received_responded": 1])
        try app.insert("campaign_funnel", ["campaign": sale, "variant": b, "delivered": 7, "received": 3])
        try app.insert("campaign_funnel", ["delivered": 2])
        try tell(
            [
                send("1", campaign: "sale", recipients: 5), send("2", campaign: "sale", messages: ["m1", "m2", "m3"]),
                send("3", campaign: "sale", variant: "b", recipients: 6), send("4", campaign: "untold"),
                send("5", campaign: "none", recipients: 0),
            ], of: app, in: database)
        try export(
            [
                row("m1"), row("m1", event: "MESSAGE_DELIVERED"), row("m2"),
                row("m9", event: "MESSAGE_DELIVERED", label: "sale-label"),
            ],
            of: app, in: database)
        #expect(
            try counts(database) == [
                #"(2026-11-20,"","",,,,2,)"#, #"(2026-11-20,none,"",0,,,0,)"#, #"(2026-11-20,sale,"",8,2,1,4,)"#,
                #"(2026-11-20,sale,b,6,,,7,"delivered over sent")"#, #"(2026-11-20,sale-label,"",,,1,0,)"#,
                #"(2026-11-20,untold,"",,,,0,)"#,
            ])
        let rates = try database.analystRows(
            """
            SELECT trim_scale(accept_rate), trim_scale(fcm_delivery_rate), trim_scale(delivery_rate),
                trim_scale(receipt_coverage), trim_scale(response_rate)
            FROM campaign_funnel WHERE campaign IN ('sale', 'none') AND variant = '' ORDER BY campaign
            """)
        #expect(rates == ["(,,,,)", "(0.25,0.5,0.5,1,0.25)"])
    }

    @Test("silent pushes of a campaign stand apart, and no rate is made of what was sent with them")
    func silent() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try database.makeSecondLine()
        let (sync, mixed) = (try app.word(.campaign, "sync"), try app.word(.campaign, "mixed"))
        try app.insertEverywhere("silent_funnel", ["woken": 7], key: ["campaign": sync])
        try app.insert("silent_funnel", ["campaign": mixed, "woken": 3])
        try app.insert("silent_funnel", day: "2026-11-21", ["campaign": mixed, "woken": 0])
        for day in ["2026-11-20", "2026-11-21"] {
            try app.insert("campaign_funnel", day: day, ["campaign": mixed, "delivered": 5, "received": 4])
        }
        try tell(
            [
                send("1", campaign: "sync", recipients: 1_000),
                send("2", campaign: "sync", variant: "b", recipients: 10),
                send("3", campaign: "mixed", recipients: 10),
                send("4", campaign: "mixed", recipients: 10, at: Self.noon + Self.day),
            ], of: app, in: database)
        #expect(
            try database.analystRows(
                """
                SELECT day, campaign, variant, sent, delivered, woken, delivery_rate, receipt_coverage, response_rate
                FROM campaign_funnel ORDER BY day, campaign, variant
                """) == [
                    #"(2026-11-20,mixed,"",10,5,3,,0.8000,0.0000)"#, #"(2026-11-20,sync,"",1000,0,777,,,)"#,
                    "(2026-11-20,sync,b,10,0,0,,,)", #"(2026-11-21,mixed,"",10,5,0,0.5000,0.8000,0.0000)"#,
                ])
    }

    @Test(
        "a message of the export is of its delivery's campaign, else of its send's, else of its label's, else of its label"
    )
    func attribution() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        func deliver(_ key: String, install: Int, at time: String, campaign: Int, variant: Int = 0) throws {
            let name = Projections.Delivery.Name(
                app: app.id, shard: 0, install: UUID(high: 0, low: UInt64(install)), notificationKey: key)
            try app.insert(
                "delivery",
                [
                    "campaign": campaign, "variant": variant,
                    "key": Int(DeliveryKey.of(name, secret: UUID(high: 0, low: 7))),
                ],
                texts: [
                    "install_id": name.install.description, "notification_key": key,
                    "state": "\\x00", "answered_at": time,
                    "first_occurred_at": time, "first_device_at": time, "last_occurred_at": time,
                    "last_device_at": time,
                ])
        }
        let (first, second) = (try app.word(.campaign, "first"), try app.word(.campaign, "second"))
        let variant = try app.word(.variant, "v")
        // Of two deliveries of one message the earlier one that names a campaign.
        try deliver("1", install: 1, at: "2026-11-20 09:00:00Z", campaign: 0)
        try deliver("1", install: 2, at: "2026-11-20 10:00:00Z", campaign: second)
        try deliver("1", install: 3, at: "2026-11-20 09:30:00Z", campaign: first, variant: variant)
        try deliver("2", install: 1, at: "2026-11-20 09:00:00Z", campaign: 0)
        try tell(
            [
                send("late", campaign: "late", messages: ["1", "2"], at: Self.noon + 1),
                send("told", campaign: "told", variant: "w", messages: ["projects/p/messages/0:2%ab", "3"]),
                send("nameless", messages: ["4"], at: Self.noon + -1),
                send("label 1", campaign: "labelled", variant: "x", label: "l"),
                send("label 2", campaign: "labelled", variant: "y", label: "l"),
                send("many 1", campaign: "one", label: "many"), send("many 2", campaign: "other", label: "many"),
                send("only a label", label: "alone", recipients: 3),
                send("label and variant", variant: "z", label: "own", recipients: 1, messages: ["8", "9"]),
                send("later", campaign: "named", messages: ["9"], at: Self.noon + 2),
            ], of: app, in: database)
        try export(
            [
                row("0:1%ff", label: "l"), row("2", label: "l"), row("3"), row("4", label: "l"),
                row("5", label: "many"),
                row("6", label: "alone"), row("7"), row("8", label: "own"), row("9", label: "own"),
            ], of: app, in: database)
        #expect(
            try counts(database, "AND accepted > 0") == [
                #"(2026-11-20,"","",1,1,,0,)"#, #"(2026-11-20,alone,"",3,1,,0,)"#, "(2026-11-20,first,v,,1,,0,)",
                #"(2026-11-20,labelled,"",,1,,0,)"#, #"(2026-11-20,many,"",,1,,0,)"#,
                #"(2026-11-20,named,"",1,1,,0,)"#, #"(2026-11-20,own,z,1,1,,0,)"#, "(2026-11-20,told,w,2,2,,0,)",
            ])
    }

    @Test(
        "the messages of a send to a topic are of its campaign, whichever rows come first, also after their day's other rows went"
    )
    func topic() throws {
        let rows = [
            row("t", "", type: "TOPIC", bulk: 7), row("t2", "", label: "l", type: "TOPIC", bulk: 8),
            row("a", "1", bulk: 7), row("b", "2", bulk: 7), row("b", "2", event: "MESSAGE_DELIVERED", bulk: 7),
            row("c", "3", type: "DATA_MESSAGE", bulk: 7), row("d", "1", bulk: 8), row("e", "1", bulk: 9), row("f", "1"),
            // What its own message says goes before.
            row("own", "1", bulk: 7),
        ]
        for order in [rows, rows.reversed()] {
            let database = try TestDatabase.make()
            defer { database.drop() }
            let app = try database.makeApp()
            for row in order { try export([row, row], of: app, in: database) }
            try tell(
                [
                    send("1", campaign: "sale", variant: "b", recipients: 5, messages: ["projects/p/messages/t"]),
                    send("2", campaign: "labelled", label: "l"), send("3", campaign: "other", messages: ["own"]),
                ], of: app, in: database)
            let expected = [
                #"(2026-11-20,"","",,2,,0,)"#, #"(2026-11-20,labelled,"",,1,,0,)"#, #"(2026-11-20,other,"",1,1,,0,)"#,
                "(2026-11-20,sale,b,5,2,1,0,)",
            ]
            #expect(try counts(database) == expected)
            #expect(
                try database.analystRows("SELECT fcm_data_accepted FROM campaign_funnel WHERE campaign = 'sale'") == [
                    "(1)"
                ])
            // Another app may use the same number.
            #expect(try database.value("SELECT count(*) FROM sends.fcm_topic", as: Int64.self) == 2)
            // A part of it on the day after, whose topic's row retention has removed.
            try export([row("late", "9", bulk: 7, at: Self.noon + Self.day)], of: app, in: database)
            var owner = try database.connect()
            #expect(try FCMExportStore.retain(days: 1, now: Self.noon + 2 * Self.day, on: &owner) == rows.count)
            #expect(
                try counts(database) == expected + ["(2026-11-21,sale,b,,1,,0,)"])
            _ = try FCMExportStore.retain(days: 1, now: Self.noon + 40 * Self.day, on: &owner)
            #expect(try database.value("SELECT count(*) FROM sends.fcm_topic", as: Int64.self) == 0)
            #expect(try counts(database) == expected + ["(2026-11-21,sale,b,,1,,0,)"])
        }
    }

    @Test("data messages stand apart, and what goes to a topic as a whole, was refused or has no id is no message")
    func apart() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try export(
            [
                row("d", type: "DATA_MESSAGE"), row("d", event: "MESSAGE_DELIVERED", type: "DATA_MESSAGE"),
                row("t", "", type: "TOPIC"), row("", type: nil), row("r", event: "INVALID_REGISTRATION"),
                row("n", type: nil),
                row("n", "another"),
            ], of: app, in: database)
        #expect(try counts(database) == [#"(2026-11-20,"","",,2,,0,)"#])
        #expect(
            try database.analystRows("SELECT fcm_data_accepted, fcm_data_delivered FROM campaign_funnel") == ["(1,1)"])
        #expect(try database.analystRows("SELECT FROM fcm_export").count == 7)
    }

    @Test("sends count on their day and messages on that of their first row, in the time zone of the app")
    func days() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp(timeZone: "Asia/Bangkok")
        let midnight = try #require(Timestamp(rfc3339: "2026-11-20T17:00:00Z"))
        try tell(
            [
                send("before", campaign: "c", recipients: 1, at: midnight + -1),
                send("after", campaign: "c", recipients: 2, at: midnight),
                send(
                    "absurd", campaign: "c", recipients: 3, at: try #require(Timestamp(rfc3339: "9999-12-31T00:00:00Z"))
                ),
            ], of: app, in: database)
        try export(
            [
                row("m", event: "MESSAGE_DELIVERED", label: "c", at: midnight), row("m", label: "c", at: midnight + -1),
                row("o", label: "c", at: midnight),
            ], of: app, in: database)
        #expect(
            try counts(database) == [
                #"(2026-11-20,c,"",1,1,1,0,)"#, #"(2026-11-21,c,"",2,1,,0,)"#, #"(9999-12-31,c,"",3,,,0,)"#,
            ])
        #expect(try counts(database, "AND day = '2026-11-21'") == [#"(2026-11-21,c,"",2,1,,0,)"#])
        // The zone moves them along.
        try database.run("UPDATE log.app SET time_zone = 'UTC'")
        #expect(
            try counts(database, "AND day < '2027-01-01'") == [
                #"(2026-11-20,c,"",3,2,1,0,)"#
            ])
    }

    @Test(
        "a night with two midnights belongs to the day that begins with the first, also for retention",
        arguments: [
            ("Atlantic/Azores", "2026-10-25", "2026-10-24T23:59:59Z", "2026-10-25T00:30:00Z", "2026-10-26T00:59:59Z"),
            ("America/Havana", "2026-11-01", "2026-11-01T03:59:59Z", "2026-11-01T04:30:00Z", "2026-11-02T04:59:59Z"),
        ])
    func twoMidnights(zone: String, day: String, before: String, early: String, late: String) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp(timeZone: zone)
        let times = try [before, early, late].map { try #require(Timestamp(rfc3339: $0)) }
        for alone in [true, false] {
            // First with nothing on the day before, then with something.
            for (place, time) in times.enumerated() where (place > 0) == alone {
                try tell([send("\(place)", campaign: "night", recipients: 10, at: time)], of: app, in: database)
                try export([row("\(place)", label: "night", at: time)], of: app, in: database)
            }
            #expect(try counts(database, "AND day = '\(day)'") == [#"(\#(day),night,"",20,2,,0,)"#])
            #expect(
                try database.analystRows("SELECT DISTINCT day FROM sends WHERE send_id <> '0'") == ["(\(day))"])
        }
        let all = try counts(database)
        #expect(all.count == 2)
        var connection = try database.connect()
        for days in [1, 0] {
            _ = try FCMExportStore.retain(days: days, now: times[2], on: &connection)
            #expect(try counts(database) == all)
        }
    }

    @Test("sends to absurdly many are refused, and where they were stored all the same, they do not break the view")
    func absurdSums() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        #expect(throws: PostgresError.self) {
            try tell([send("a", campaign: "c", recipients: 1_000_000_000_001)], of: app, in: database)
        }
        try database.run("ALTER TABLE sends.send DROP CONSTRAINT send_recipients_check")
        let sends = ["a", "b", "c"].map { send($0, campaign: "c", variant: $0 == "c" ? "v" : nil, recipients: .max) }
        try tell(sends, of: app, in: database)
        let most = "\(Int64.max)"
        #expect(
            try counts(database) == [#"(2026-11-20,c,"",\#(most),,,0,)"#, "(2026-11-20,c,v,\(most),,,0,)"])
        #expect(try database.analystRows("SELECT sum(sent) FROM campaign_funnel") == ["(18446744073709551614)"])
    }

    @Test("what retention drops still counts, under the campaign that it had, and does not come back")
    func retention() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp(timeZone: "America/New_York")
        let rows = [
            row("a", label: "old", at: Self.noon + -3 * Self.day), row("a", event: "MESSAGE_DELIVERED", at: Self.noon),
            row("b", label: "old", at: Self.noon + -2 * Self.day),
            row("c", label: "old", at: Self.noon + -1 * Self.day),
            row("d", label: "old", type: "DATA_MESSAGE", at: Self.noon + -3 * Self.day),
        ]
        try export(rows, of: app, in: database)
        let before = try counts(database)
        #expect(before.count == 3)
        var connection = try database.connect()
        func retain(_ days: Int) throws -> Int {
            try FCMExportStore.retain(days: days, now: Self.noon, on: &connection)
        }
        #expect(try retain(4) == 0)
        #expect(try retain(2) == 2)
        #expect(try counts(database) == before)
        #expect(try retain(1) == 1)
        #expect(try retain(1) == 0)
        #expect(try counts(database) == before)
        // Its label has become a campaign's since: what was sealed stays as it was.
        try tell([send("s", campaign: "new", label: "old", at: Self.noon)], of: app, in: database)
        let outcome = try FCMExportStore.append(rows, app: app.id, on: &connection)
        #expect(outcome.stored == 0 && outcome.tooOld == 3)
        #expect(
            try counts(database, "AND accepted > 0") == [
                #"(2026-11-17,old,"",,1,1,0,)"#, #"(2026-11-18,old,"",,1,,0,)"#, #"(2026-11-19,new,"",,1,,0,)"#,
            ])
        #expect(try database.analystRows("SELECT sum(fcm_data_accepted) FROM campaign_funnel") == ["(1)"])
        #expect(try database.analystRows("SELECT FROM fcm_export").count == 2)
    }

    @Test("whatever the order, the batches and the repetitions in which an export comes in", arguments: 1...3)
    func anyOrder(seed: Int) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        var numbers = SeededNumbers(seed: UInt64(seed))
        var rows: [FCMExportRow] = []
        for _ in 0..<300 {
            var one = row(
                ["", "m1", "m2", "m3", "0:4%ab", "4"].randomElement(using: &numbers)!,
                ["", "a", "b", "c"].randomElement(using: &numbers)!,
                event: ["MESSAGE_ACCEPTED", "MESSAGE_DELIVERED", "QUOTA_EXCEEDED"].randomElement(using: &numbers)!,
                label: [nil, "x", "y"].randomElement(using: &numbers)!,
                type: [nil, "DISPLAY_NOTIFICATION", "DATA_MESSAGE", "TOPIC"].randomElement(using: &numbers)!)
            one.eventAt = Self.noon + Int64.random(in: -2...2, using: &numbers) * Self.day
            rows.append(one)
        }
        // Rows with one identity are one row, whatever else they say.
        var known: Set<String> = []
        rows = rows.filter { known.insert("\($0.eventAt) \($0.event) \($0.messageKey) \($0.instanceID)").inserted }

        /// A message to an instance, plainly.
        struct Message {
            var first: Timestamp
            var accepted = false
            var delivered = false
            var isData = false
            var label = ""
        }
        var messages: [String: Message] = [:]
        for row in rows where row.event != "QUOTA_EXCEEDED" && row.messageType != "TOPIC" && row.messageKey != "" {
            var message = messages["\(row.messageKey) \(row.instanceID)"] ?? Message(first: row.eventAt)
            message.first = min(message.first, row.eventAt)
            if row.event == "MESSAGE_ACCEPTED" { message.accepted = true }
            if row.event == "MESSAGE_DELIVERED" { message.delivered = true }
            if row.messageType == "DATA_MESSAGE" { message.isData = true }
            message.label = max(message.label, row.analyticsLabel ?? "")
            messages["\(row.messageKey) \(row.instanceID)"] = message
        }
        var cells: [String: [Int]] = [:]
        for message in messages.values {
            let cell = "\("\(message.first)".prefix(10)) \(message.label)"
            let values = [
                message.accepted && !message.isData, message.delivered && !message.isData,
                message.accepted && message.isData, message.delivered && message.isData,
            ]
            cells[cell] = zip(cells[cell] ?? [0, 0, 0, 0], values).map { $0 + ($1 ? 1 : 0) }
        }

        var stored = 0
        var connection = try database.connect()
        let coming = (rows + rows.filter { _ in Bool.random(using: &numbers) }).shuffled(using: &numbers)
        var rest = coming[...]
        while !rest.isEmpty {
            let batch = rest.prefix(Int.random(in: 1...60, using: &numbers))
            stored += try FCMExportStore.append(Array(batch), app: app.id, on: &connection).stored
            rest = rest.dropFirst(batch.count)
        }
        #expect(stored == rows.count)
        let found: [String] = try database.column(
            """
            SELECT concat_ws(' ', day, campaign) || ' ' || concat_ws(',', coalesce(accepted, 0),
                coalesce(fcm_delivered, 0),
                coalesce(fcm_data_accepted, 0), coalesce(fcm_data_delivered, 0)) FROM analytics.campaign_funnel
            """)
        #expect(found.sorted() == cells.map { "\($0) \($1.map(String.init).joined(separator: ","))" }.sorted())
        #expect(messages.count > 10)
    }
}
