import FunnelOracle
import Projections
import Telemetry

extension FunnelSums {
    /// A funnel as its view shows it, with the columns of the oracle's table.
    func rows(of table: FunnelTable, in log: WrittenLog) -> [[String?]] {
        let tables = Projectors.all.flatMap { $0.tables }
        guard let stored = tables.first(where: { $0.name == table.table }) else { return [] }
        let medians = medians
        return acrossShards(stored.name).map { row, counts in
            var columns = row.texts(of: stored.keys, in: log)
            for (name, count) in zip(stored.counts, counts) { columns[name] = String(count) }
            if let delivered = columns["delivered"].flatMap(Int64.init), let received = columns["received"] {
                columns["inferred"] = Int64(received).map { String(delivered - $0) }
            }
            columns["median_seconds"] = medians[row].map { String(Double($0) / 1_000_000) }
            return table.columns.map { columns[$0] }
        }
    }

    /// A row of a view: a cell of all shards.
    private struct Row: Hashable {
        let app: Int32
        let day: CivilDate
        var keys: SIMD4<Int32>

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

    /// The rows of a table that do not show zeros alone.
    private func acrossShards(_ table: String) -> [Row: [Int64]] {
        var rows: [Row: [Int64]] = [:]
        for (cell, counts) in tables[table] ?? [:] {
            let row = Row(app: cell.app, day: cell.day, keys: cell.keys)
            rows[row] = rows[row].map { zip($0, counts).map(+) } ?? counts
        }
        return rows.filter { $1.contains { $0 != 0 } }
    }

    /// The ⌈timed/2⌉-th smallest time, in microseconds, by the keys of category and action.
    private var medians: [Row: Int64] {
        var times: [Row: [(bucket: Int32, deliveries: Int64)]] = [:]
        for (row, counts) in acrossShards("category_action_times") {
            var action = row
            action.keys[2] = 0
            times[action, default: []].append((row.keys[2], counts[0]))
        }
        return times.compactMapValues { buckets in
            var rank = (buckets.reduce(0) { $0 + $1.deliveries } + 1) / 2
            for (bucket, deliveries) in buckets.sorted(by: { $0.bucket < $1.bucket }) {
                rank -= deliveries
                if rank <= 0 { return TimeBucket(number: Int64(bucket)).middle }
            }
            return nil
        }
    }
}

extension WireEnum {
    /// The word of a stored code; `''` for none.
    static func wire(ofCode code: some BinaryInteger) -> String { Self(rawValue: Int16(code))?.wire ?? "" }
}
