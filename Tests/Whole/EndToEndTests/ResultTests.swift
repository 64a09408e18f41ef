import Foundation
import Postgres
import TestSupport
import Testing

@Suite("What becomes of events")
struct ResultTests {
    private let shared: SharedService
    private let app: TestApp

    init() throws {
        shared = try SharedService.get()
        app = try shared.makeApp()
    }

    private func stored(_ ids: [String]) throws -> Int64 {
        try shared.database.value(
            "SELECT count(*) FROM log.event WHERE app = \(app.id) AND event_id::text = ANY (\(ids))")
    }

    @Test("results list what was not accepted by its index, and its neighbours are stored")
    func indexes() throws {
        let ids = (0..<5).map { _ in Wire.id() }
        let install = Wire.id()
        #expect(try shared.post(Wire.envelope(install: install, Wire.event(id: ids[1])), app).results.accepted == 1)
        let results = try shared.post(
            Wire.envelope(
                install: install, Wire.event(id: ids[0]), Wire.event(id: ids[1]),
                Wire.event(id: ids[2], type: "notification.eaten"), Wire.event(id: ids[3]), "17",
                Wire.event(id: ids[3]), Wire.event(id: ids[4])),
            app
        ).results
        #expect((results.accepted, results.duplicate, results.rejected) == (3, 2, 2))
        #expect(results.results.map(\.index) == [1, 2, 4, 5])
        #expect(results.results.map(\.id) == [ids[1], ids[2], nil, ids[3]])
        #expect(results.results.map(\.result) == ["duplicate", "rejected", "rejected", "duplicate"])
        #expect(results.results.map(\.reason) == [nil, "unknown_type", "not_an_object", nil])
        #expect(try stored(ids) == 4)
    }

    @Test(
        "an event is refused alone, with its reason and where, and kept as it came",
        arguments: [
            ("not_an_object", #""a""#, "events[1]"), ("not_an_object", "null", "events[1]"),
            ("too_large", Wire.event(more: #""x":"\#(String(repeating: "x", count: 32 * 1024))""#), "events[1]"),
            ("missing_field", #"{"type":"notification.opened"}"#, "events[1].id"),
            ("missing_field", Wire.event().replacing(#""at""#, with: #""when""#), "events[1].at"),
            ("missing_field", Wire.event(type: "action.tapped"), "events[1].action_id"),
            ("missing_field", Wire.event(type: "story.started"), "events[1].page_count"),
            ("invalid_id", Wire.event(id: "42"), "events[1].id"),
            ("unknown_type", Wire.event(type: "notification.eaten"), "events[1].type"),
            ("invalid_time", Wire.event(at: "yesterday"), "events[1].at"),
            ("invalid_time", Wire.event(at: "1999-12-31T23:59:59Z"), "events[1].at"),
            ("missing_notification", Wire.event(notification: "null"), "events[1].notification"),
            ("missing_notification", Wire.event(notification: #"{"id":""}"#), "events[1].notification"),
            ("invalid_field", Wire.event(more: #""seq":-1"#), "events[1].seq"),
            ("invalid_field", Wire.event(more: #""launch":7"#), "events[1].launch"),
            ("invalid_field", Wire.event(notification: #"{"id":"a\u0000b"}"#), "events[1]"),
            ("invalid_field", Wire.event(more: #""x":"\ud800""#), "events[1]"),
            ("invalid_field", Wire.event(more: #""x":1e400"#), "events[1]"),
            ("invalid_field", Wire.event(more: #""x":123456789012345678901234567890"#), "events[1]"),
            (
                "invalid_field",
                Wire.event(more: "\"x\":" + String(repeating: "[", count: 33) + String(repeating: "]", count: 33)),
                "events[1]"
            ),
        ])
    func reasons(_ reason: String, _ event: String, _ path: String) throws {
        let good = [Wire.id(), Wire.id()]
        let results = try shared.post(
            Wire.envelope(Wire.event(id: good[0]), event, Wire.event(id: good[1])), app
        ).results
        #expect((results.accepted, results.rejected) == (2, 1))
        let line = try #require(results.results.first)
        #expect(line.index == 1 && line.result == "rejected" && line.reason == reason, "\(line)")
        #expect(line.detail?.contains(path) == true, "\(line)")
        #expect(try stored(good) == 2)
        let kept: [String] = try shared.database.column(
            "SELECT raw FROM analytics.rejected_events WHERE app = \(app.slug) AND reason = \(reason)")
        // As it came, cut at 32 KiB.
        #expect(kept == [String(event.utf8.prefix(32 * 1024)) ?? ""])
    }

    @Test("an event without an install is refused alone, and one with a source of its own needs no other")
    func installs() throws {
        let other = Wire.id()
        let body = """
            {"events":[\(Wire.event()),\(Wire.event(more: #""source":{"install_id":"\#(other.uppercased())"}"#))]}
            """
        let results = try shared.post(body, app).results
        #expect(results.results.map(\.reason) == ["missing_field"] && results.accepted == 1)
        let installs: [String] = try shared.database.column(
            "SELECT install_id::text FROM analytics.events WHERE app = \(app.slug)")
        #expect(installs == [other])
    }

    @Test(
        "a retry is a duplicate for ever, through another process too; another id, time, install or app is another event"
    )
    func identity() throws {
        let (install, id) = (Wire.id(), Wire.id())
        let body = Wire.envelope(install: install, Wire.event(id: id))
        #expect(try shared.post(body, app).results.accepted == 1)
        let second = try shared.bellwether.serve()
        defer { _ = try? second.stop() }
        #expect(try second.client().post(body, key: app.secret).results.duplicate == 1)
        for other in [
            Wire.envelope(install: install, Wire.event()), Wire.envelope(Wire.event(id: id)),
            Wire.envelope(install: install, Wire.event(id: id, at: "2026-11-20T09:30:10.002Z")),
        ] {
            #expect(try second.client().post(other, key: app.secret).results.accepted == 1)
            #expect(try shared.post(other, app).results.duplicate == 1)
        }
        let stranger = try shared.makeApp()
        #expect(try shared.post(body, stranger).results.accepted == 1)
        // The same instant and the same bits, spelled differently.
        let spelled = Wire.envelope(
            install: install.uppercased(), Wire.event(id: id.uppercased(), at: "2026-11-20T16:30:10.001000+07:00"))
        #expect(try shared.post(spelled, app).results.duplicate == 1)
    }

    @Test("one envelope of a hundred installs, spread over all writers, answers once when all are committed")
    func relays() throws {
        let ids = (0..<100).map { _ in Wire.id() }
        let events = ids.map { Wire.event(id: $0, more: #""source":{"install_id":"\#(Wire.id())"}"#) }
        #expect(try shared.post(Wire.envelope(events), app).results.accepted == 100)
        #expect(try stored(ids) == 100)
        let shards: Int64 = try shared.database.value(
            "SELECT count(DISTINCT shard) FROM log.opened_event WHERE app = \(app.id)")
        #expect(shards == Int64(TestDatabase.shards))
        #expect(try shared.post(Wire.envelope(events), app).results.duplicate == 100)
    }

    @Test("reports of what a client dropped are kept once each, and a broken one disturbs nobody")
    func drops() throws {
        let (id, install) = (Wire.id(), Wire.id())
        let report = #"{"id":"\#(id)","count":12,"since":"2026-11-01T00:00:00Z","reason":"age"}"#
        let body = Wire.envelope(install: install, more: #""dropped":[\#(report),{"id":7}]"#, Wire.event())
        #expect(try shared.post(body, app).results.accepted == 1)
        #expect(try shared.post(body, app).results.duplicate == 1)
        let alone = Wire.envelope(install: install, more: #""dropped":[\#(report)]"#)
        let results = try shared.post(alone, app).results
        #expect(results.accepted + results.duplicate + results.rejected + results.results.count == 0)
        // A reason that nobody knows yet loses no count.
        let newer = Wire.id()
        let later = #""dropped":[{"id":"\#(newer)","count":5,"reason":"storage_pressure"}]"#
        #expect(try shared.post(Wire.envelope(install: install, more: later), app).status == 200)
        let rows: [String] = try shared.database.column(
            """
            SELECT concat_ws(' ', drop_id, install_id, count, reason)
            FROM analytics.client_drops WHERE app = \(app.slug) ORDER BY count DESC
            """)
        #expect(rows == ["\(id) \(install) 12 age", "\(newer) \(install) 5"])
    }

    @Test("a wrong clock is corrected by sent_at, a time ahead is clamped, any other is taken as it is")
    func times() throws {
        let now = Date()
        func text(_ offset: Double) -> String {
            now.addingTimeInterval(offset).ISO8601Format(.init(includingFractionalSeconds: true))
        }
        // Sent an hour ago by the device's clock, which is right by less than the corrections' five minutes or not.
        for (at, sentAt, source, ahead) in [
            (text(-7200), text(-3600), "corrected", -3600.0), (text(7200), text(7200), "corrected", 0),
            (text(-7200), text(-200), "device", -7200), (text(-7200), nil, "device", -7200),
            (text(3600), nil, "clamped", 0), (text(200), nil, "device", 200), (text(-7200), "soon", "device", -7200),
            (text(4000), text(200), "clamped", 0),
        ] as [(String, String?, String, Double)] {
            let id = Wire.id()
            let body = Wire.envelope(sentAt: sentAt, Wire.event(id: id, at: at))
            #expect(try shared.post(body, app).results.accepted == 1)
            let row = try #require(
                try shared.database.column(
                    """
                    SELECT time_source || ' ' || extract(epoch FROM occurred_at) || ' '
                        || (device_at = \(at)::text::timestamptz)
                    FROM analytics.events WHERE app = \(app.slug) AND event_id::text = \(id)
                    """, of: String.self
                ).first)
            let words = row.split(separator: " ")
            #expect(words[0] == source && words[2] == "true", "\(at) \(sentAt ?? "") \(row)")
            let off = (Double(words[1]) ?? 0) - now.timeIntervalSince1970 - ahead
            #expect(abs(off) < 30, "\(at) \(sentAt ?? "") \(row)")
        }
    }
}
