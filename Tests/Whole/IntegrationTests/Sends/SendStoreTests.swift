import Accounts
import FunnelOracle
import Postgres
import Sends
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Keeping what was sent")
struct SendStoreTests {
    private static let receivedAt = Event.sampleTime

    private func send(_ id: String, campaign: String = "sale") -> Send {
        var send = Send(id: id)
        send.campaign = campaign
        return send
    }

    private func append(_ sends: [Send], of app: TestApp, in database: TestDatabase) throws -> [Bool] {
        var connection = try database.session(.ingest)
        return try SendStore.append(
            sends, SendStore.Arrival(app: app.id, key: app.key.id, receivedAt: Self.receivedAt), on: &connection)
    }

    @Test("a send is kept with its messages and pages, and reads as it was told")
    func whole() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp(timeZone: "Asia/Bangkok")
        let line = #"""
            {"id":"s","campaign":"c","variant":"v","category":"k","thread":"t","topic":"o","analytics_label":"l",
             "sent_at":"2026-11-20T17:30:00Z","recipients":9,"message_ids":["0:17%ab","18"],"payload":
             {"token":"secret","pw_stories":{"pages":[{"image":"https://e.com/1","title":"One","subtitle":"Two","duration":2.5,
               "link":"shop://x","button_title":"Buy"},{"title":"Never"}]}}}
            """#
        let send = try SendsDecoder().decode(line: Array(line.utf8)).get()
        #expect(try append([send], of: app, in: database) == [true])
        // After midnight in Bangkok.
        #expect(
            try database.analystRows(
                """
                SELECT app, day, send_id, campaign, variant, category, thread, topic, analytics_label, sent_at,
                    received_at,
                    recipients, messages, sent, story, key, payload ? 'token', payload ? 'pw_stories' FROM sends
                """) == [
                    #"(chat,2026-11-21,s,c,v,k,t,o,l,"2026-11-20 17:30:00+00","2026-11-20 09:30:10+00",9,2,9,playable,write,f,t)"#
                ])
        #expect(
            try database.analystRows("SELECT * FROM story_pages") == [
                #"(chat,c,v,0,0,One,Two,2500,Buy,shop://x,https://e.com/1,,s,"2026-11-20 17:30:00+00")"#,
                #"(chat,c,v,1,,Never,,5000,,,,no_image,s,"2026-11-20 17:30:00+00")"#,
            ])
        let messages: [String] = try database.column(
            "SELECT message_key || coalesce(' ' || message_id, '') FROM sends.send_message ORDER BY 1")
        #expect(messages == ["17 0:17%ab", "18"])
    }

    @Test("ids that only look alike are different sends, in one envelope too")
    func lookalikes() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let (whole, combined) = (Send(id: "caf\u{e9}"), Send(id: "cafe\u{301}"))
        #expect(try append([whole, combined, whole], of: app, in: database) == [true, true, false])
        #expect(try append([combined, whole], of: app, in: database) == [false, false])
        let lengths: [Int32] = try database.column("SELECT octet_length(id) FROM sends.send ORDER BY 1")
        #expect(lengths == [5, 6])
    }

    @Test("what nobody told is none, and the time is that of receipt")
    func bare() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        #expect(try append([Send(id: "s")], of: app, in: database) == [true])
        #expect(
            try database.analystRows(
                "SELECT campaign, category, sent_at = received_at, recipients, messages, sent, story, payload FROM sends"
            )
                == [#"("","",t,,,,,)"#])
    }

    @Test("the first that is told of an id stays, within an envelope and ever after; another app's ids are its own")
    func once() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        let envelope = [send("b"), send("a"), send("b", campaign: "second")]
        #expect(try append(envelope, of: app, in: database) == [true, true, false])
        #expect(try append(envelope + [send("c")], of: app, in: database) == [false, false, false, true])
        #expect(try append([send("b", campaign: "theirs")], of: other, in: database) == [true])
        #expect(try append([], of: app, in: database) == [])
        #expect(
            try database.analystRows("SELECT app, send_id, campaign FROM sends ORDER BY app, send_id") == [
                "(chat,a,sale)", "(chat,b,sale)", "(chat,c,sale)", "(other,b,theirs)",
            ])
    }

    @Test("those who tell the same at once wait for each other in one order, and each send is new to one of them")
    func atOnce() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let sends = (0..<200).map { number -> Send in
            var send = send("send \(number)")
            send.messageIDs = [Send.MessageID("message \(number)")]
            return send
        }
        let accepted = Lock(0)
        try together(6) { number in
            var mine = sends
            var numbers = SeededNumbers(seed: UInt64(number))
            for _ in 0..<10 {
                mine.shuffle(using: &numbers)
                let isNew = try append(mine, of: app, in: database)
                accepted.withLock { $0 += isNew.count { $0 } }
            }
        }
        #expect(accepted.withLock { $0 } == 200)
        #expect(try database.value("SELECT count(*) FROM sends.send") == Int64(200))
        #expect(try database.value("SELECT count(*) FROM sends.send_message") == Int64(200))
    }

    @Test("what was told is not changed, by whoever tells or by its owner")
    func appendOnly() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let line = #"{"id":"s","message_ids":["1"],"payload":{"pw_stories":{"pages":[{"image":"a:b"}]}}}"#
        _ = try append([try SendsDecoder().decode(line: Array(line.utf8)).get()], of: app, in: database)
        var row = FCMExportRow(event: "MESSAGE_ACCEPTED", eventAt: Event.sampleTime)
        row.messageID = "1"
        var owner = try database.connect()
        _ = try FCMExportStore.append([row], app: app.id, on: &owner)
        for table in ["send", "send_message", "story_page", "fcm_row"] {
            for change in [
                "DELETE FROM sends.\(table)", "UPDATE sends.\(table) SET \(column(table)) = \(column(table))",
            ] {
                for role in [LogSession.Role.ingest, nil] {
                    var connection = try database.session(role)
                    let error = #expect(throws: PostgresError.self, "\(change)") {
                        try connection.execute(script: change)
                    }
                    #expect(error?.state == .insufficientPrivilege)
                }
            }
            let error = #expect(throws: PostgresError.self) {
                try owner.execute(script: "TRUNCATE sends.\(table) CASCADE")
            }
            #expect(error?.state == .insufficientPrivilege)
        }
    }

    private func column(_ table: String) -> String { table == "fcm_row" ? "event" : table == "send" ? "id" : "send" }

    @Test("a day and a campaign lead along the indexes, however much else was sent")
    func plan() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp(timeZone: "Europe/Berlin")
        try database.run(
            """
            INSERT INTO sends.send (app, id, sent_at, received_at, recipients, campaign, variant, category, thread,
                topic, analytics_label, story)
            SELECT \(app.id), 's' || n, '2026-11-20'::timestamptz - n * interval '20 minutes', now(), 1, 'c' || n % 50,
                '', '', '', '', '', CASE WHEN n % 10 = 0 THEN 'playable' END
            FROM generate_series(1, 20000) AS n;
            ANALYZE sends.send;
            """)
        var connection = try database.connect()
        func buffers(_ query: String) throws -> Int64 {
            let explain = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) \(query)"
            let text: String = try connection.query(Statement(explain, []))[0].get(0)
            let match = try #require(text.firstMatch(of: /"Shared Hit Blocks": ([0-9]+)/))
            let read = try #require(text.firstMatch(of: /"Shared Read Blocks": ([0-9]+)/))
            return (Int64(match.1) ?? 0) + (Int64(read.1) ?? 0)
        }
        let pages: Int64 = try database.value("SELECT pg_relation_size('sends.send') / 8192")
        #expect(pages > 150)
        // Finding the days takes a leap for each of the 278; a day has 72 sends.
        _ = try buffers("SELECT count(*) FROM analytics.sends")
        let sends = try buffers("SELECT * FROM analytics.sends WHERE app = 'chat' AND day = '2026-09-20'")
        let funnel = try buffers("SELECT * FROM analytics.campaign_funnel WHERE app = 'chat' AND day = '2026-09-20'")
        let all = try buffers("SELECT * FROM analytics.campaign_funnel WHERE app = 'chat'")
        #expect(sends < 2000 && funnel < 2000 && funnel < all, "\(sends) \(funnel) \(all)")
        let counted: String = try database.value(
            "SELECT count(*) || ' ' || sum(sent) FROM analytics.campaign_funnel WHERE app = 'chat' AND day = '2026-09-20'"
        )
        #expect(counted == "50 72")
    }
}
