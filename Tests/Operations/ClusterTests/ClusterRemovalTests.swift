import CatalogueSupport
import Clusters
import Envelopes
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

import struct Foundation.Data
import class Foundation.JSONSerialization
import class Foundation.NSNull

@Suite("Retention and erasure in all cells")
struct ClusterRemovalTests {
    /// The middle of a month about a year ago, and of the one before it, and an hour ago.
    private let old: Timestamp
    private let older: Timestamp
    private let fresh = WallClock.now + -3_600_000_000

    init() throws {
        let day: Int64 = 86_400_000_000
        let then = CivilDate(daysSince1970: Int((WallClock.now.microseconds - 360 * day) / day))
        let month = try #require(CivilDate(year: then.year, month: then.month, day: 1))
        old = Timestamp(microseconds: (Int64(month.daysSince1970) + 14) * day)
        older = Timestamp(microseconds: (Int64(month.daysSince1970) - 14) * day)
    }

    private func month(_ time: Timestamp) -> String { String(time.description.prefix(7)) }

    /// Months that have a partition, by cell.
    private func months(_ filled: FilledCells) throws -> [[String]] {
        try filled.cells.databases.map { database in
            try database.column(
                "SELECT to_char(month, 'YYYY-MM') FROM log.partition WHERE dropped_at IS NULL AND month < now() - interval '200 days' ORDER BY 1"
            )
        }
    }

    /// Cells with events of a year ago; their months have partitions.
    private func filled(at times: [[Timestamp]]) throws -> FilledCells {
        let filled = try FilledCells(at: [])
        for (place, times) in times.enumerated() {
            var connection = try filled.cells.databases[place].connect()
            for time in times {
                let first = month(time) + "-01"
                try connection.query("SELECT log.make_partition(\(first)::text::date)")
                try filled.add(filled.installs[place], to: place, at: time)
            }
        }
        try filled.project()
        return filled
    }

    private let sums =
        "SELECT day, sum(delivered), sum(received), sum(action_tapped) FROM category_funnel GROUP BY 1 ORDER BY 1"

    @Test("a month goes in all cells, also where nothing of it ever came, and every number stays")
    func dropped() throws {
        let filled = try filled(at: [[old, fresh], [old, older], [fresh]])
        defer { filled.drop() }
        let before = try filled.seen(sums)
        // Whichever database is given.
        let ended = try Bellwether(filled.cells.databases[2]).run("retain", "--days", "300")
        #expect(ended.status == 0 && ended.messages.isEmpty, "\(ended)")
        #expect(
            ended.output.split(separator: "\n").sorted() == [
                "cell-1: \(month(old)): dropped; deliveries sealed: 2.",
                "cell-2: \(month(older)): dropped; deliveries sealed: 2.",
                // They are the same deliveries.
                "cell-2: \(month(old)): dropped; deliveries sealed: 0.",
            ], "\(ended)")
        #expect(try filled.seen(sums) == before)
        #expect(try filled.seen("SELECT count(*) FROM events") == ["(8)"])
        #expect(try filled.bellwether.run("verify").status == 0)
        // What comes late is refused everywhere, as in one database.
        for (place, database) in filled.cells.databases.enumerated() {
            let late = Event.sample(at: older, install: filled.installs[place][0])
            let verdicts = try database.appender().append([filled.cells.app.submission([late], receivedAt: fresh)])
            guard case .rejected(let rejection)? = verdicts.first?.first else { throw CancellationError() }
            #expect(rejection.reason == .tooOld)
        }
        let again = try filled.bellwether.run("retain", "--days", "300", "--format", "json")
        #expect(again.status == 0 && again.output == "[]\n", "\(again)")
    }

    @Test("what came lately in one cell keeps a month in all of them, until it has waited too long somewhere")
    func kept() throws {
        let filled = try filled(at: [[old], [old], []])
        defer { filled.drop() }
        try filled.add(filled.installs[1], to: 1, at: old + 5_000_000, receivedAt: fresh)
        try filled.project()
        let kept = try filled.bellwether.run("retain", "--days", "300")
        #expect(kept.status == 0 && kept.output.hasPrefix("Nothing to drop"), "\(kept)")
        #expect(try months(filled) == [[month(old)], [month(old)], []])
        // Of 150 days it has waited twice as long in the first cell, and something came in the second.
        let gone = try filled.bellwether.run("retain", "--days", "150", "--format", "json")
        #expect(gone.status == 0, "\(gone)")
        #expect(try months(filled) == [[], [], []])
        let items = try #require(try JSONSerialization.jsonObject(with: Data(gone.output.utf8)) as? [[String: Any]])
        #expect(
            items.compactMap { $0["cell"] as? String } == ["cell-1", "cell-2"]
                && items.allSatisfy { $0["dropped"] as? Bool == true })
    }

    @Test("nothing is closed before every database has answered, and a run that was killed goes on in all cells")
    func interrupted() throws {
        let filled = try filled(at: [[old], [old], [old]])
        defer { filled.drop() }
        let before = try filled.seen(sums)
        try filled.cells.close(2)
        let away = try Bellwether(filled.hub).run("retain", "--days", "300")
        #expect(
            away.status == 69 && away.output.isEmpty && away.messages.contains("'cell-3' cannot be reached"), "\(away)")
        try filled.cells.open(2)
        #expect(try months(filled) == [[month(old)], [month(old)], [month(old)]])
        let killed = try filled.bellwether.dying(at: "month closed in a cell").run("retain", "--days", "300")
        #expect(killed.status == 128 + 9)
        // What comes in between cannot keep it any more.
        try filled.add(filled.installs[1], to: 1, at: old + 5_000_000, receivedAt: fresh)
        let ended = try filled.bellwether.run("retain", "--days", "300")
        #expect(ended.status == 0, "\(ended)")
        #expect(try months(filled) == [[], [], []])
        #expect(try filled.seen(sums) == before)
        #expect(try filled.bellwether.run("verify").status == 0)
    }

    @Test("while a shard moves nothing is dropped anywhere, and afterwards it goes from where it is")
    func moving() throws {
        let filled = try filled(at: [[old], [old], []])
        defer { filled.drop() }
        let before = try filled.seen(sums)
        let shard = Shard.of(filled.installs[0][0], among: 16)
        let move = ["cluster", "move", "--shard", "\(shard)", "--to", "cell-3"]
        #expect(try filled.bellwether.dying(at: "move begun").start(move).wait().status == 128 + 9)
        let refused = try filled.bellwether.run("retain", "--days", "300")
        #expect(
            refused.status == 1 && refused.output.isEmpty && refused.messages.contains("is being moved"), "\(refused)")
        #expect(try months(filled).prefix(2) == [[month(old)], [month(old)]])
        #expect(try filled.bellwether.start(move).wait().status == 0)
        #expect(try filled.bellwether.run("retain", "--days", "300").status == 0)
        #expect(try months(filled) == [[], [], []])
        try filled.project()
        #expect(try filled.seen(sums) == before)
        #expect(try filled.bellwether.run("verify").status == 0)
    }

    @Test("what cells say of a month decides together")
    func decision() throws {
        typealias Survey = Retention.Survey
        let month = CivilDate(daysSince1970: 20_000)
        func open(quiet: Bool, overdue: Bool = false) -> Survey {
            Survey(open: [.init(month: month, lookedAt: 7, isQuiet: quiet, isOverdue: overdue)], closed: [])
        }
        let (none, closed) = (Survey(open: [], closed: []), Survey(open: [], closed: [month]))
        #expect(Retention.due([open(quiet: true), none, open(quiet: true)]) == [month])
        #expect(Retention.due([open(quiet: true), open(quiet: false)]).isEmpty)
        #expect(Retention.due([open(quiet: false), open(quiet: false, overdue: true)]) == [month])
        #expect(Retention.due([open(quiet: false), closed]) == [month])
        func positions(_ surveys: [Survey], isKeptIn kept: Int? = nil) throws -> [Int64?] {
            var asked: [Int64?] = []
            _ = try Retention.close(month, surveys: surveys) { cell, candidate in
                asked.append(candidate.lookedAt)
                return cell != kept
            }
            return asked
        }
        #expect(try positions([open(quiet: true), open(quiet: true)]) == [7, nil])
        #expect(try positions([open(quiet: true), open(quiet: true)], isKeptIn: 0) == [7])
        #expect(try positions([open(quiet: false, overdue: true), open(quiet: true)]) == [nil, nil])
        #expect(try positions([closed, open(quiet: false)]) == [nil])
    }

    /// A row of Firebase's export for each of these messages.
    private func export(_ keys: [String], instance: String, at time: Timestamp) -> String {
        let at = time.description.replacing("T", with: " ").replacing("Z", with: " UTC")
        return keys.map { key in
            """
            {"event_timestamp":"\(at)","project_number":"1","message_id":"\(key)","instance_id":"\(instance)","message_type":"DISPLAY_NOTIFICATION","sdk_platform":"IOS","app_name":"a","event":"MESSAGE_ACCEPTED","analytics_label":"x"}
            """
        }.joined(separator: "\n")
    }

    /// An event of a message, from an install with an instance of Firebase.
    private func opened(_ key: String, campaign: String, install: UUID, at time: Timestamp) -> Event {
        Event(
            id: .random(), deviceAt: time, occurredAt: time, receivedAt: time, timeSource: .device,
            source: Source(installID: install, platform: "ios", fid: "instance"),
            notification: Notification(
                fcmMessageID: "0:\(key)%abc", id: "n", category: "NEWS", campaign: campaign),
            interaction: .opened(launch: .cold))
    }

    @Test("rows of Firebase's export go with the campaigns of the deliveries in all cells, which a hub knows before")
    func exportRows() throws {
        let filled = try filled(at: [[], [], [old]])
        defer { filled.drop() }
        let key = "\(old.microseconds / 1_000_000)000001"
        _ = try filled.cells.databases[1].appender().append([
            filled.cells.app.submission(
                [opened(key, campaign: "spring", install: filled.installs[1][0], at: old)], receivedAt: old)
        ])
        _ = try filled.bellwether.trusted(
            "import", "fcm-export", "--app", "chat", "-", input: export([key, "5"], instance: "i", at: old))
        try filled.project()
        let funnel = "SELECT day, campaign, accepted, delivered FROM campaign_funnel ORDER BY 1, 2"
        let before = try filled.seen(funnel)
        #expect(before.contains { $0.contains("spring,1,1") } && before.contains { $0.contains(",x,1,") }, "\(before)")
        let ended = try filled.bellwether.run("retain", "--days", "300")
        #expect(ended.status == 0 && ended.output.contains("Rows of FCM's export dropped: 2;"), "\(ended)")
        #expect(try filled.seen(funnel) == before)
        for database in filled.all {
            #expect(try database.value("SELECT count(*) FROM sends.fcm_row", as: Int64.self) == 0)
        }
    }

    @Test("an erased install is gone from all databases, and the receipt has the sums")
    func erased() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        let install = filled.installs[1][0]
        _ = try filled.cells.databases[1].appender().append([
            filled.cells.app.submission([
                opened("1795167010000001", campaign: "spring", install: install, at: Event.sampleTime)
            ])
        ])
        // Another cell keeps what mentions it.
        let mention = RejectedEvent(
            id: nil, rejection: Rejection(.unknownType, "type"), raw: #"{"of":"\#(install)"}"#)
        _ = try filled.cells.databases[0].appender().append([filled.cells.app.submission([], rejected: [mention])])
        _ = try filled.bellwether.trusted(
            "import", "fcm-export", "--app", "chat", "-",
            input: export(["1795167010000001"], instance: "instance", at: Event.sampleTime))
        try filled.project()
        let unknown = try filled.bellwether.run("erase", "--app", "nobody", "--install", "\(install)")
        #expect(unknown.status == 1 && unknown.output.isEmpty && unknown.messages.split(separator: "\n").count == 1)

        let words = ["access", "--app", "chat", "--install", "\(install)", "--format", "ndjson"]
        for database in [filled.hub, filled.cells.databases[2]] {
            let held = try Bellwether(database).start(words).wait().output
            let kinds = held.split(separator: "\n").map { $0.split(separator: ",").prefix(2).joined(separator: ",") }
            let expected = [
                (3, "events", 2), (1, "rejected_events", 1), (1, "fcm_export", 2), (1, "fcm_messages", 2),
                (2, "deliveries", 2), (1, "install_days", 2),
            ].flatMap { count, kind, cell in
                Array(repeating: #"{"kind":"\#(kind)","cell":"cell-\#(cell)""#, count: count)
            }
            #expect(kinds == expected, "\(held)")
        }

        try filled.cells.close(2)
        let unread = try filled.bellwether.start(words).wait()
        #expect(unread.status != 0 && unread.output.isEmpty && unread.messages.contains("'cell-3' cannot be reached"))
        let partly = try filled.bellwether.run("erase", "--app", "chat", "--install", "\(install)")
        #expect(partly.status == 1 && partly.messages.contains("'cell-3' cannot be reached"), "\(partly)")
        #expect(partly.messages.contains("run the same command again"))
        #expect(
            partly.output.contains("events           3\n") && partly.output.contains("rejected events  1\n"),
            "\(partly)")
        #expect(partly.output.contains("FCM export rows  1,"))
        try filled.cells.open(2)
        let text = try Bellwether(filled.cells.databases[2]).trusted(
            "erase", "--app", "chat", "--install", "\(install)", "--format", "json")
        let receipt = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let parts = try #require(receipt["cells"] as? [[String: Any]])
        #expect(parts.compactMap { $0["cell"] as? String } == ["cell-1", "cell-2", "cell-3"])
        #expect(receipt["events"] as? Int == 0 && receipt["fcm_export_rows"] as? Int == 1 && receipt["batch"] is NSNull)
        #expect(try filled.bellwether.start(words).wait().output.isEmpty)
        for database in filled.all {
            #expect(try database.value("SELECT count(*) FROM sends.fcm_row", as: Int64.self) == 0)
            #expect(
                try database.value("SELECT count(*) FROM log.event WHERE install_id = \(install)", as: Int64.self) == 0)
            #expect(try database.value("SELECT count(*) FROM log.rejected", as: Int64.self) == 0)
        }
        for database in filled.cells.databases {
            #expect(
                try database.value("SELECT count(*) FROM log.erasure WHERE finished_at IS NOT NULL", as: Int64.self)
                    == 1)
        }
        try filled.project()
        #expect(try filled.bellwether.run("verify").status == 0)
        #expect(try filled.seen("SELECT sum(delivered) FROM category_funnel") == ["(5)"])
    }

    @Test(
        "an app's server asks any process, and all cells forget the install; a cell that is away keeps the request waiting"
    )
    func requested() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        let install = filled.installs[2][0]
        let first = try Bellwether(filled.cells.databases[0])
        let key = try first.trusted("app", "key", "add", "chat", "--server").dropLast()
        let service = try Bellwether(filled.cells.databases[1]).serve("--only", "ingest")
        func ask() throws -> RawClient.Answer {
            try service.client().send(
                "DELETE", "/v1/installs/\(install)", headers: ["Authorization": "Bearer \(key)"])
        }
        #expect(try ask().status == 202)
        // The list is in the first cell.
        let another = try Bellwether(filled.cells.databases[1]).run("erase", "--requested")
        #expect(another.status == 0 && another.output.isEmpty, "\(another)")
        try filled.cells.close(2)
        let partly = try first.run("erase", "--requested")
        #expect(partly.status == 1 && partly.output.isEmpty && partly.messages.contains("'cell-3'"), "\(partly)")
        #expect(try ask().status == 202)
        let status = try first.trusted("status")
        #expect(status.contains("1 install waits to be erased") && status.contains("'cell-3'"), "\(status)")
        try filled.cells.open(2)
        let ended = try first.run("erase", "--requested")
        #expect(ended.status == 0 && ended.output == "Erased install \(install) of app chat\n", "\(ended)")
        let answer = try ask()
        #expect(answer.status == 200)
        let receipt = try #require(try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
        #expect(receipt["events"] as? Int == 2 && receipt["deliveries"] as? Int == 1, "\(receipt)")
        let parts = try #require(receipt["cells"] as? [[String: Any]])
        #expect(parts.compactMap { $0["events"] as? Int } == [0, 0, 2])
        #expect(try service.stop() == 0)
        #expect(try filled.seen("SELECT count(*) FROM events WHERE install_id = '\(install)'") == ["(0)"])
        #expect(try filled.seen("SELECT sum(delivered) FROM category_funnel") == ["(5)"])
        #expect(try filled.bellwether.run("verify").status == 0)
        #expect(try filled.cells.cluster().check().isEmpty)
    }
}
