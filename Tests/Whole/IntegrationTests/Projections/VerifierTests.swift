import Accounts
import EventLog
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing

@Suite("Verifying the projections")
struct VerifierTests {
    private static let day = "2026-11-20"

    @Test("what is as the log says is proved, shard by shard, and told with its counts")
    func proved() throws {
        let proved = try ProvedDatabase()
        defer { proved.database.drop() }
        let report = try proved.verify()
        #expect(report.isProved, "\(report)")
        #expect((report.events, report.deliveries) == (27, 12))
        #expect(
            report.shards.map(\.shard) == Array(0..<TestDatabase.shards)
                && report.shards.allSatisfy { $0.position == 3 })
        let stored = try Recounts.all.reduce(Int64(0)) { sum, recount in
            try sum + proved.database.value("SELECT count(*) FROM projection.\(identifier: recount.table)")
        }
        #expect(report.cells == stored && stored > 30)
        #expect(report.description.contains("Recounted 27 events of 12 deliveries"))
        #expect(report.description.hasSuffix("Verified: every cell matches the log.\n"))
    }

    @Test("an empty log and empty tables are proved, and nothing is left behind in the session")
    func empty() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.session(nil)
        for _ in 0..<2 { #expect(try Verifier().verify(on: &connection).isProved) }
        let left: Int64 = try connection.query(
            "SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()")[0]
            .get(0)
        #expect(left == 0 && !connection.isInTransaction)
    }

    @Test("values that two rows exchanged are found, though each column has the same values as before")
    func exchanged() throws {
        let proved = try ProvedDatabase()
        defer { proved.database.drop() }
        try proved.tamper(
            """
            WITH pair AS (
                SELECT a.ctid AS first, b.ctid AS second, a.notification_key AS first_key,
                    b.notification_key AS second_key
                FROM projection.delivery AS a JOIN projection.delivery AS b USING (shard)
                WHERE a.notification_key < b.notification_key ORDER BY a.shard, a.ctid, b.ctid LIMIT 1
            )
            UPDATE projection.delivery AS d
            SET notification_key = CASE d.ctid WHEN pair.first THEN pair.second_key ELSE pair.first_key END
            FROM pair WHERE d.ctid IN (pair.first, pair.second)
            """)
        // Each time with other hashes.
        for _ in 0..<8 { #expect(try proved.verify().differing.map(\.table).contains("delivery")) }
    }

    @Test("a count that is off by one is found in every column, with its cell, its column and both values")
    func offByOne() throws {
        let proved = try ProvedDatabase()
        defer { proved.database.drop() }
        var connection = try proved.database.connect()
        for recount in Recounts.all where recount.isSum {
            for column in recount.values.map(\.name) {
                let table = "projection.\(recount.table)"
                let change = """
                    UPDATE \(table) SET \(column) = \(column) + 1 WHERE ctid = (SELECT min(ctid) FROM \(table))
                    RETURNING shard, xmin::text
                    """
                let changed = try connection.query(Statement(change))[0]
                let report = try proved.verify(shards: [changed.get(0)])
                #expect(!report.isProved && report.differing.map(\.table) == [recount.table])
                #expect(report.differingCells == 1 && report.differences.count == 1)
                let difference = try #require(report.differences.first)
                #expect(difference.table == recount.table && difference.values.map(\.column) == [column])
                let value = difference.values[0]
                #expect(value.stored.flatMap { Int($0) } == value.recounted.flatMap { Int($0) }.map { $0 + 1 })
                #expect(difference.key.prefix(2).map(\.text) == ["chat", Self.day])
                // The deliveries behind it are right: it is the sum that is not.
                let hasDeliveries = !["install_days", "muted_after"].contains(recount.table)
                #expect(
                    !difference.deliveries.isEmpty == hasDeliveries
                        && difference.deliveries.allSatisfy { $0.differs == false })
                let undo = """
                    UPDATE \(table) SET \(column) = \(column) - 1
                        WHERE xmin::text = '\(try changed.get(1, as: String.self))'
                    """
                try connection.execute(script: undo)
            }
        }
        #expect(try proved.verify().isProved)
    }

    @Test("a delivery's row that is wrong is found in every column, and told by its names")
    func delivery() throws {
        let proved = try ProvedDatabase(copies: 1)
        defer { proved.database.drop() }
        let shard: Int16 = try proved.database.value("SELECT shard FROM projection.delivery LIMIT 1")
        for column in Recount.delivery.values {
            // A time shows only on a delivery that has what it is the time of; where another column says it, the row
            // leaves it out.
            let isTime = if case .time = column.meaning { true } else { false }
            let key = isTime ? "opened-0" : "story-0"
            let row = "projection.delivery WHERE notification_key = '\(key)'"
            let change =
                switch column.meaning {
                case .time:
                    """
                    \(column.name) = (SELECT coalesce(o.\(column.name), o.last_occurred_at) + interval '1 us'
                        FROM projection.opened_delivery AS o WHERE o.notification_key = '\(key)')
                    """
                case .flags: "flags = flags | 128"
                case .code:
                    "codes = codes + \(try #require(DeliveryTable.layout.packed.first { $0.name == column.name }).bit)"
                default: "\"\(column.name)\" = \"\(column.name)\" + 1"
                }
            try proved.tamper("CREATE TABLE kept AS SELECT * FROM \(row)")
            try proved.tamper(
                "UPDATE projection.delivery SET \(change) WHERE notification_key = '\(key)'")
            let report = try proved.verify(shards: [shard])
            let difference = try #require(report.differences.first)
            #expect(report.differing.map(\.table) == ["delivery"] && report.differingCells == 1)
            #expect(difference.key.map(\.text).contains(key) && difference.key[0].text == "chat")
            #expect(difference.values.map(\.column) == [column.name])
            if column.name == "flags" {
                #expect(difference.values[0].stored == "expanded+media_attached+story_started")
                #expect(difference.values[0].recounted == "expanded+story_started")
            }
            if column.name == "story_exit" { #expect(difference.values[0].recounted == "abandoned") }
            if column.name == "first_occurred_at" {
                #expect(difference.values[0].stored == "2026-11-20T09:30:10.000001Z")
            }
            try proved.tamper("DELETE FROM \(row); INSERT INTO projection.delivery SELECT * FROM kept; DROP TABLE kept")
        }
        #expect(try proved.verify().isProved)
    }

    @Test("a delivery that was folded wrongly stands first behind the cell that it spoils")
    func behind() throws {
        let proved = try ProvedDatabase(copies: 12)
        defer { proved.database.drop() }
        try proved.tamper(
            """
            UPDATE projection.delivery SET flags = flags - 8 WHERE notification_key = 'opened-9';
            UPDATE projection.category_funnel AS f SET opened = opened - 1
            FROM projection.delivery AS d WHERE d.notification_key = 'opened-9' AND f.shard = d.shard
            """)
        let report = try proved.verify(Verifier(mostDeliveries: 4))
        #expect(report.differing.map(\.table) == ["delivery", "category_funnel"])
        let cell = try #require(report.differences.first)
        #expect(cell.table == "category_funnel" && cell.key.map(\.text) == ["chat", Self.day, "NEWS"])
        #expect(cell.values.map(\.column) == ["opened"])
        #expect(cell.deliveries.count == 4)
        #expect(cell.deliveries.map(\.differs) == [true, false, false, false])
        #expect(cell.deliveries[0].notificationKey == "opened-9")
        let text = report.description
        #expect(text.contains("category_funnel: app chat, day \(Self.day), category NEWS (shard "))
        #expect(text.contains("  opened: stored 3, recounted 4\n"))
        #expect(
            text.contains(
                "behind it: delivery opened-9 on install \(cell.deliveries[0].install), whose own row differs"))
        #expect(text.contains("2 cells differ: 1 in delivery, 1 in category_funnel.\nNot proved.\n"))
    }

    @Test("cells that are missing and cells too many are told apart; one of nothing but zeros is none")
    func missing() throws {
        let proved = try ProvedDatabase(copies: 1)
        defer { proved.database.drop() }
        try proved.tamper(
            """
            INSERT INTO projection.media_funnel (deliveries, responded, received, received_responded, bytes, ms, timed,
                generation, app, day, category, kind, format, network, outcome, reason, shard)
            SELECT 0, 0, 0, 0, 0, 0, 0, 1, app, day, category, 2, 0, 2, 4, 0, shard FROM projection.category_funnel
            """)
        #expect(try proved.verify().isProved)
        try proved.tamper(
            """
            UPDATE projection.media_funnel SET deliveries = 1 WHERE kind = 2;
            DELETE FROM projection.story_funnel;
            INSERT INTO projection.silent_funnel (woken, new_data, no_data, failed, no_result, generation, app, day,
                campaign, shard)
            SELECT 1, 0, 0, 0, 1, 1, app, day, 999999, shard FROM projection.category_funnel
            """)
        let report = try proved.verify()
        #expect(report.differingCells == 3)
        let cells = Dictionary(uniqueKeysWithValues: report.differences.map { ($0.table, $0) })
        let media = try #require(cells["media_funnel"])
        #expect(media.isSurplus && !media.isMissing && media.deliveries.isEmpty)
        #expect(media.key.map(\.text) == ["chat", Self.day, "NEWS", "video", "", "cellular", "failed", ""])
        let story = try #require(cells["story_funnel"])
        #expect(story.isMissing && !story.isSurplus)
        #expect(story.deliveries.map(\.notificationKey) == ["story-0"])
        #expect(cells["silent_funnel"]?.isSurplus == true && cells["silent_funnel"]?.key.last?.text == "#999999")
        #expect(report.description.contains("  is missing; recounted: stories 1, started 1, exit_abandoned 1\n"))
        #expect(report.description.contains("  should not be there; stored: deliveries 1\n"))
    }

    @Test("only the first of many differences are told one by one, and all are counted")
    func many() throws {
        let proved = try ProvedDatabase(copies: 6)
        defer { proved.database.drop() }
        try proved.tamper("UPDATE projection.delivery SET items = 7; UPDATE projection.thread_funnel SET items = 7")
        let report = try proved.verify(Verifier(mostDifferences: 5, mostDeliveries: 2))
        #expect(report.differences.count == 5 && report.differingCells > 24)
        #expect(report.differences[0].table == "thread_funnel" && report.differences[0].deliveries.count == 2)
        #expect(report.description.contains("cells differ, the first 5 shown: 24 in delivery, "))
    }

    @Test("an event that is gone from the log is missed in its batch, whether or not the tables show it")
    func gate() throws {
        let proved = try ProvedDatabase()
        defer { proved.database.drop() }
        try proved.tamper(
            """
            BEGIN;
            SELECT log.open_gate();
            DELETE FROM log.event WHERE notification_key = 'opened-1' AND codes >> 10 & 31 = 3;
            COMMIT
            """)
        for _ in 0..<2 {
            let report = try proved.verify()
            #expect(!report.isProved && report.gapCount == 1)
            let gap = try #require(report.gaps.first)
            #expect((gap.batch, gap.expected, gap.found) == (2, 11, 10))
            #expect(report.description.contains("Batch 2 has 10 events in shard \(gap.shard), but should have 11."))
            // The tables follow the log as it is now.
            try proved.fill()
        }
        #expect(try proved.verify().differing.isEmpty)
    }

    @Test("a stopped projector is not compared, and the report says why and is no proof")
    func stopped() throws {
        let proved = try ProvedDatabase()
        defer { proved.database.drop() }
        try proved.tamper(
            """
            UPDATE projection.projector SET stopped_at = now(), stopped_batch = 2, stopped_because = 'division by zero'
            WHERE name = 'media_funnel';
            UPDATE projection.media_funnel SET deliveries = deliveries + 1
            """)
        let report = try proved.verify()
        #expect(report.differing.isEmpty && !report.isProved)
        #expect(report.omissions.map(\.projector) == ["media_funnel"])
        #expect(
            report.description.contains("Not compared: media_funnel, it is stopped at batch 2: division by zero.\n"))
    }

    @Test("deliveries are named behind a cell even when nobody keeps their rows")
    func stoppedDeliveries() throws {
        let proved = try ProvedDatabase(copies: 1)
        defer { proved.database.drop() }
        try proved.tamper(
            """
            UPDATE projection.projector SET stopped_at = now(), stopped_batch = 1, stopped_because = 'x'
            WHERE name = 'deliveries';
            DELETE FROM projection.delivery;
            UPDATE projection.silent_funnel SET woken = 2
            """)
        let report = try proved.verify()
        #expect(report.differing.map(\.table) == ["silent_funnel"])
        #expect(report.differences.first?.deliveries.map(\.notificationKey) == ["silent-0"])
        #expect(report.differences.first?.deliveries.map(\.differs) == [nil])
    }

    @Test("events behind the position of their shard are not counted before the fold has come to them")
    func position() throws {
        let proved = try ProvedDatabase()
        defer { proved.database.drop() }
        try proved.append(copy: 3)
        let report = try proved.verify()
        #expect(report.isProved && report.events == 27)
        try proved.tamper("UPDATE projection.progress SET position = 4")
        let later = try proved.verify()
        #expect(later.events == 36 && !later.isProved)
        #expect(later.differing.first?.table == "delivery" && later.differing.first?.cells == 4)
        try proved.fill()
        #expect(try proved.verify().isProved)
    }

    @Test("events of deliveries that retention has sealed count no more")
    func sealed() throws {
        let proved = try ProvedDatabase()
        defer { proved.database.drop() }
        try proved.tamper(
            """
            INSERT INTO projection.sealed_delivery
                (first_device_at, last_device_at, install_id, app, shard, notification_key)
            SELECT first_device_at, last_device_at, install_id, app, shard, notification_key
            FROM projection.delivery WHERE notification_key = 'story-1'
            """)
        let report = try proved.verify()
        #expect(report.deliveries == 11 && report.events == 24 && report.gapCount == 0)
        let row = try #require(report.differences.first { $0.table == "delivery" })
        #expect(row.isSurplus && row.key.last?.text == "story-1")
        #expect(report.differing.first?.cells == 1)
        try proved.fill()
        #expect(try proved.verify().isProved)
    }

    @Test("an app that is on its way to another zone is named and not compared, and the others are")
    func zone() throws {
        let proved = try ProvedDatabase()
        defer { proved.database.drop() }
        let other = try proved.database.makeApp("other")
        _ = try proved.database.appender().append([other.submission([Event.sample(category: "NEWS")])])
        try proved.fill()
        let cells = try proved.verify().cells
        try proved.tamper(
            """
            INSERT INTO projection.zone (app, time_zone, rules) SELECT id, time_zone, projection.zone_rules(time_zone)
                FROM log.app;
            UPDATE log.app SET time_zone = 'Pacific/Pago_Pago' WHERE slug = 'chat'
            """)
        func expectUnfinished(_ words: String) throws {
            let report = try proved.verify()
            #expect(report.differing.isEmpty && !report.isProved, "\(report)")
            #expect((1..<cells).contains(report.cells) && report.moves.map(\.app) == ["chat"])
            #expect(
                report.description.contains("App chat is being moved to \(words), which is unfinished"), "\(report)")
            #expect(!report.description.contains("differ"))
        }
        try expectUnfinished("zone Pacific/Pago_Pago, from Europe/Berlin")
        try proved.tamper("UPDATE projection.category_funnel SET opened = opened + 1")
        let differing = try proved.verify()
        #expect(differing.differing.map(\.cells) == [1] && differing.differences[0].key[0].text == "other")
        try proved.fill()
        try expectUnfinished("zone Pacific/Pago_Pago, from Europe/Berlin")
        try proved.tamper(
            """
            UPDATE projection.zone SET time_zone = 'Pacific/Pago_Pago',
                rules = projection.zone_rules('Pacific/Pago_Pago')
            WHERE app = \(proved.app.id)
            """)
        #expect(try proved.verify().isProved)
        // An update of the time-zone data may have moved a midnight.
        try proved.tamper("UPDATE projection.zone SET rules = 'older' WHERE app = \(proved.app.id)")
        try expectUnfinished("the present rules of its zone Pacific/Pago_Pago")
        // There and back it may have left days behind.
        try proved.tamper(
            """
            UPDATE projection.zone SET changes = changes + 2, rules = projection.zone_rules(time_zone)
                WHERE app = \(proved.app.id)
            """)
        #expect(try proved.verify().moves.map(\.to) == ["Pacific/Pago_Pago"])
    }

    @Test("a generation beside the live one is proved by its own tables and positions")
    func generation() throws {
        let proved = try ProvedDatabase()
        defer { proved.database.drop() }
        try proved.tamper(
            """
            INSERT INTO projection.generation (id, state) VALUES (2, 'building');
            INSERT INTO projection.progress (generation, shard) SELECT 2, shard FROM projection.progress;
            INSERT INTO projection.projector (generation, name, version, tables_generation)
            SELECT 2, name, version, CASE name WHEN 'deliveries' THEN 1 ELSE 2 END FROM projection.projector;
            """)
        for recount in Recounts.all where recount.isSum {
            try proved.tamper("SELECT projection.make_table('\(recount.table)', 2)")
        }
        // The deliveries, installs and goals of the first generation are none at position 0.
        #expect(
            try proved.verify(Verifier(), .number(2)).differing.map(\.table) == ["delivery", "install_day", "goal"])
        #expect(try proved.verify().isProved)
        let error = #expect(throws: VerifierError.self) { try proved.verify(Verifier(), .number(3)) }
        #expect(error?.description.contains("no generation 3") == true)
        #expect(throws: VerifierError.self) { try proved.verify(shards: [TestDatabase.shards]) }
    }

    @Test("writers go on while a shard is recounted, and what they add is not seen")
    func writers() throws {
        let proved = try ProvedDatabase()
        defer { proved.database.drop() }
        var connection = try proved.database.session(nil)
        var shards: [Int16] = []
        let report = try Verifier().verify(on: &connection) { step in
            shards.append(step.shard)
            #expect(step.place == shards.count && step.count == Int(TestDatabase.shards))
            #expect(throws: Never.self) { try proved.append(copy: 10 + shards.count) }
        }
        #expect(report.isProved && report.events == 27 && shards == Array(0..<TestDatabase.shards))
    }
}
