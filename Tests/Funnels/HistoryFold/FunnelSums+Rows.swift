package import FunnelOracle
import Projections
import Telemetry
import Values

extension FunnelSums {
    /// A funnel as its view shows it, with the columns of the oracle's table.
    package func rows(of table: FunnelTable, in log: WrittenLog) -> [[String?]] {
        let tables = Projectors.all.flatMap { $0.tables }
        guard let stored = tables.first(where: { $0.name == table.table }) else { return [] }
        let times = times(of: stored.name, keys: stored.keys.count)
        var shown = zip(stored.counts, stored.columns.filter { $0.stored != nil }.map(\.name)).map {
            (stored: $0, name: $1)
        }
        shown.removeAll { !table.columns.contains($0.name) }
        var rows = acrossShards(stored.name)
        let summed = shown.filter { $0.stored != $0.name }.compactMap { stored.counts.firstIndex(of: $0.stored) }
        if !summed.isEmpty { rows = fromTheEnd(rows, summed, page: stored.keys.count - 1) }
        let told = shown.compactMap { stored.counts.firstIndex(of: $0.stored) }
        return rows.filter { _, counts in told.contains { counts[$0] != 0 } }.map { row, counts in
            var columns = row.texts(of: stored.keys, in: log)
            for (name, place) in zip(shown.map(\.name), told) { columns[name] = String(counts[place]) }
            if let delivered = columns["delivered"].flatMap(Int64.init), let received = columns["received"] {
                columns["inferred"] = Int64(received).map { String(delivered - $0) }
            }
            for (name, tenths) in [("median_seconds", Int64(5)), ("p90_seconds", 9)] {
                columns[name] = times[row].flatMap { time(at: tenths, of: $0) }.map { String(Double($0) / 1_000_000) }
            }
            return table.columns.map { columns[$0] }
        }
    }

    /// A row of a view: a cell of all shards.
    private struct Row: Hashable {
        let app: Int32
        let day: CivilDate
        var keys: Tally.Keys

        func with(_ key: Int32, at place: Int) -> Row {
            var row = self
            row.keys[place] = key
            return row
        }

        func texts(of columns: [TallyTable.Key], in log: WrittenLog) -> [String: String] {
            var texts = ["app": log.slug(of: app), "day": day.description]
            for (place, column) in columns.enumerated() { texts[column.name] = text(of: column, keys[place], log) }
            return texts
        }

        private func text(of column: TallyTable.Key, _ key: Int32, _ log: WrittenLog) -> String {
            switch column.kind {
            case .word: log.word(column.name, key, of: app)
            case .code(let words): key == 0 ? "" : words[Int(key) - 1]
            case .number: String(key)
            }
        }
    }

    /// Rows by page, with a row for each page up to the last, and some counts summed from there.
    private func fromTheEnd(_ rows: [Row: [Int64]], _ summed: [Int], page: Int) -> [Row: [Int64]] {
        var pages: [Row: [Int64]] = [:]
        for (story, own) in Dictionary(grouping: rows, by: { $0.key.with(0, at: page) }) {
            var sums = [Int64](repeating: 0, count: own[0].value.count)
            for index in (0...(own.map { $0.key.keys[page] }.max() ?? 0)).reversed() {
                let row = story.with(index, at: page)
                let here = rows[row] ?? sums.map { _ in 0 }
                for place in summed { sums[place] += here[place] }
                pages[row] = here.indices.map { summed.contains($0) ? sums[$0] : here[$0] }
            }
        }
        return pages
    }

    /// The rows of a table that do not show zeros alone.
    private func acrossShards(_ table: String) -> [Row: [Int64]] {
        var rows: [Row: [Int64]] = [:]
        for (cell, counts) in tables[table] ?? [:] {
            let row = Row(app: cell.app, day: cell.day, keys: cell.keys)
            rows[row] = rows[row].map { zip($0, counts).map(+) } ?? counts
        }
        return rows.filter { $1.contains { $0 != 0 } }
    }

    /// The histogram that stands beside a table whose keys are so many, by its rows: all that such tables have in
    /// common.
    private func times(of table: String, keys: Int) -> [Row: [(bucket: Int32, deliveries: Int64)]] {
        let histograms = ["category_actions": "category_action_times", "send_delays": "send_delay_times"]
        var times: [Row: [(bucket: Int32, deliveries: Int64)]] = [:]
        for (row, counts) in acrossShards(histograms[table] ?? "") {
            times[row.with(0, at: keys), default: []].append((row.keys[keys], counts[0]))
        }
        return times
    }

    /// The time that so many tenths of them do not exceed, in microseconds.
    private func time(at tenths: Int64, of buckets: [(bucket: Int32, deliveries: Int64)]) -> Int64? {
        var rank = (buckets.reduce(0) { $0 + $1.deliveries } * tenths + 9) / 10
        for (bucket, deliveries) in buckets.sorted(by: { $0.bucket < $1.bucket }) {
            rank -= deliveries
            if rank <= 0 { return TimeBucket(number: Int64(bucket)).middle }
        }
        return nil
    }
}

extension WireEnum {
    /// The word of a stored code; `''` for none.
    static func wire(ofCode code: some BinaryInteger) -> String { Self(rawValue: Int16(code))?.wire ?? "" }
}
