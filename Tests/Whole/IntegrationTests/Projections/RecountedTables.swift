import FunnelOracle
import Postgres
import Projections
import TestSupport

/// The recounts of all shards as the oracle's tables have them: summed, and with names instead of ids.
struct RecountedTables {
    private(set) var tables: [String: NamedTable] = [:]
    private var sums: [String: [[Label]: [Int64]]] = [:]

    init(of database: TestDatabase, upTo position: Int64 = .max) throws {
        var connection = try database.connect()
        let shards = try connection.query("SELECT DISTINCT shard FROM log.opened_event ORDER BY shard").map {
            try $0.get(0, as: Int16.self)
        }
        for shard in shards {
            try connection.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ")
            defer { connection.rollBack() }
            try RecountTables.make(shard: shard, position: position, on: &connection)
            for recount in Recounts.all { try read(recount, on: &connection) }
        }
        for (table, cells) in sums {
            guard let recount = Recounts.of(table), !table.hasSuffix("_times") else { continue }
            tables[table] = NamedTable(
                rows: cells.map { key, values in
                    var row: [String: String?] = [:]
                    for (column, text) in zip(recount.key, key) { row[column.name] = text.text }
                    for (column, value) in zip(recount.values, values) { row[column.name] = "\(value)" }
                    if recount.values.contains(where: { $0.name == "received" }) {
                        row["inferred"] = "\(values[0] - values[1])"
                    }
                    for (name, tenths) in [("median_seconds", Int64(5)), ("p90_seconds", 9)] {
                        row[name] = .some(time(at: tenths, of: key, in: table))
                    }
                    return row
                })
        }
        splitPages()
    }

    /// The pages of stories as the view shows them, and apart from them how they were left.
    private mutating func splitPages() {
        let stored = tables["story_page_funnel"]?.rows ?? []
        func number(_ column: String, of row: [String: String?]) -> Int64 { row[column]?.flatMap(Int64.init) ?? .min }
        tables["story_page_advances"] = NamedTable(
            rows: stored.filter { number("auto_advances", of: $0) + number("manual_advances", of: $0) > 0 })
        let key = ["app", "day", "category", "campaign", "variant"]
        let stories = Dictionary(grouping: stored) { row in key.map { Label(row[$0]?.flatMap { $0 } ?? "") } }
        var pages: [[String: String?]] = []
        for var rows in stories.values {
            rows.sort { number("page_index", of: $0) > number("page_index", of: $1) }
            var (planned, reached): (Int64, Int64) = (0, 0)
            for (place, row) in rows.enumerated() {
                planned += number("last", of: row)
                reached += number("furthest", of: row)
                let earlier = place + 1 < rows.count ? number("page_index", of: rows[place + 1]) : -1
                for index in (earlier + 1)...number("page_index", of: row) {
                    var page = index == number("page_index", of: row) ? row : row.mapValues { _ in "0" }
                    for column in key { page[column] = row[column] }
                    page["page_index"] = "\(index)"
                    (page["planned"], page["reached"]) = ("\(planned)", "\(reached)")
                    pages.append(page)
                }
            }
        }
        tables["story_page_funnel"] = NamedTable(rows: pages)
    }

    private mutating func read(_ recount: Recount, on connection: inout Connection) throws {
        let columns = recount.key + recount.values
        let list = columns.map { $0.text(of: "r.\"\($0.name)\"") }.joined(separator: ", ")
        let sql = "SELECT \(list) FROM (\(recount.sql)) AS r"
        for row in try connection.query(Statement(sql)) {
            var texts: [String?] = []
            for column in columns.indices { texts.append(try row.optional(column)) }
            guard recount.isSum else {
                // No view shows the days of installs as they are.
                guard recount.table == Recount.delivery.table else { continue }
                tables["deliveries", default: NamedTable()].rows.append(delivery(texts, columns.map(\.name)))
                continue
            }
            let values = texts.dropFirst(recount.key.count).map { $0.flatMap { Int64($0) } ?? .min }
            let key = texts.prefix(recount.key.count).map { Label($0 ?? "") }
            let sum = sums[recount.table, default: [:]][key]
            sums[recount.table, default: [:]][key] = sum.map { zip($0, values).map(+) } ?? values
        }
    }

    /// The view's columns from the table's.
    private func delivery(_ texts: [String?], _ columns: [String]) -> [String: String?] {
        var row = Dictionary(uniqueKeysWithValues: zip(columns, texts))
        let flags = Set((row["flags"] ?? nil).map { $0.split(separator: "+").map(String.init) } ?? [])
        for flag in [
            "silent", "received", "expanded", "opened", "dismissed", "action_tapped", "story_action_tapped",
            "media_attached", "story_started", "story_finished", "suppressed", "sole",
        ] {
            row[flag] = "\(flags.contains(flag))"
        }
        let isResponded = !flags.isDisjoint(with: ["opened", "action_tapped", "story_action_tapped"])
        row["responded"] = "\(isResponded)"
        row["received_responded"] = "\(isResponded && flags.contains("received"))"
        row["unanswered"] = "\(flags.isDisjoint(with: ["silent", "dismissed"]) && !isResponded)"
        if row["story_exit"] == "" {
            row["story_exit"] = .some(nil)
            row["pages"] = .some(nil)
        }
        for name in [
            "first_response", "locale", "os_version", "device_model", "authorization", "reach",
            "interruption_level", "topic", "analytics_label", "launch", "fetch_result",
        ] where row[name] == "" {
            row[name] = .some(nil)
        }
        if row["furthest"] == "-1" { row["furthest"] = .some(nil) }
        return row
    }

    /// The middle of the bucket in which the time stands that so many tenths do not exceed.
    private func time(at tenths: Int64, of cell: [Label], in table: String) -> String? {
        let histograms = ["category_actions": "category_action_times", "send_delays": "send_delay_times"]
        let buckets = (sums[histograms[table] ?? ""] ?? [:]).filter { Array($0.key.prefix(cell.count)) == cell }
            .map { (bucket: $0.key.last.flatMap { Int64($0.text) } ?? -1, deliveries: $0.value[0]) }
            .sorted { $0.bucket < $1.bucket }
        var rest = (buckets.reduce(0) { $0 + $1.deliveries } * tenths + 9) / 10
        for (bucket, deliveries) in buckets {
            rest -= deliveries
            guard rest <= 0 else { continue }
            guard bucket >= 16 else { return "\(Double(bucket) / 1_000_000)" }
            let width: Int64 = 1 << (bucket / 8 - 1)
            return "\(Double((8 + bucket % 8) * width + width / 2) / 1_000_000)"
        }
        return nil
    }
}
