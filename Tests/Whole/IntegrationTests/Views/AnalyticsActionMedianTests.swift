import Postgres
import TestSupport
import Testing

@Suite("The median of category_actions")
struct AnalyticsActionMedianTests {
    /// The bucket in which a projector counts a time.
    private func bucket(of microseconds: Int) -> Int {
        guard microseconds >= 8 else { return microseconds }
        let exponent = Int.bitWidth - 1 - microseconds.leadingZeroBitCount
        return (exponent - 2) * 8 + ((microseconds >> (exponent - 3)) & 7)
    }

    /// The medians that the view shows, in microseconds: each history is stored on a day of its own, as a projector
    /// would store it, spread over shards and over the sealed and the live partition.
    private func medians(of histories: [[Int]]) throws -> [Double] {
        struct Cell: Hashable { let day, bucket, generation, shard: Int }
        var times: [Cell: Int] = [:]
        var actions: [Cell: Int] = [:]
        for (day, history) in histories.enumerated() {
            for (place, time) in history.enumerated() {
                let (generation, shard) = (place % 2, place % 3)
                times[Cell(day: day, bucket: bucket(of: time), generation: generation, shard: shard), default: 0] += 1
                actions[Cell(day: day, bucket: 0, generation: generation, shard: shard), default: 0] += 1
            }
            // What lies beside the cell: of another generation, of another button.
            times[Cell(day: day, bucket: 0, generation: 2, shard: 0)] = 1_000
        }
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.makeSecondLine()
        let app = try database.makeApp().id
        let timeRows = times.map { cell, count in
            "(\(count), \(cell.generation), \(app), date '2026-01-01' + \(cell.day), 0, 0, \(cell.bucket), \(cell.shard))"
        }
        let actionRows = actions.map { cell, count in
            "(\(count), \(count), 0, \(count), 0, 0, \(cell.generation), \(app), date '2026-01-01' + \(cell.day), 0, 0, \(cell.shard))"
        }
        try database.run(
            """
            INSERT INTO projection.category_action_times
                (deliveries, generation, app, day, category, action_id, bucket, shard)
            VALUES \(timeRows.joined(separator: ", "));
            INSERT INTO projection.category_action_times SELECT 1000, 1, app, day, 0, 7, 0, 0
            FROM (SELECT DISTINCT app, day FROM projection.category_action_times) AS cell;
            INSERT INTO projection.category_actions
                (tapped_deliveries, taps, foreground_taps, timed, sole, received_sole, generation, app, day, category,
                    action_id, shard)
            VALUES \(actionRows.joined(separator: ", "));
            """)
        return try database.column(
            "SELECT (median_seconds * 1000000)::double precision FROM analytics.category_actions ORDER BY day")
    }

    @Test("is the middle one of the times, the earlier of two in the middle, exact up to 15 microseconds")
    func exact() throws {
        let histories: [(times: [Int], median: Double)] = [
            ([0], 0), ([0, 0, 5_000_000], 0), ([0, 15], 0), ([15, 3, 9], 9), ([7, 8, 9, 10], 8), ([15], 15),
            ([1, 2, 3, 4, 5], 3), ([1, 1, 14, 14, 14], 14), ([5_000_000, 0, 8_000_000, 0], 0),
        ]
        #expect(try medians(of: histories.map(\.times)) == histories.map(\.median))
    }

    @Test("is none where nothing is timed any more, whatever a projector has left behind")
    func untimed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try app.insert("category_actions", ["tapped_deliveries": 1, "taps": 1, "timed": 0])
        try app.insert("category_action_times", ["bucket": 200, "deliveries": 0])
        #expect(
            try database.analystRows("SELECT tapped_deliveries, timed, median_seconds FROM category_actions") == [
                "(1,0,)"
            ])
    }

    @Test("is within a tenth of the true one, from microseconds to centuries")
    func near() throws {
        var histories = (1...60).map { size in
            (0..<size).map { _ in (1 << Int.random(in: 4...52)) + Int.random(in: 0..<(1 << 20)) }
        }
        // The ends of buckets, where the error is greatest.
        for exponent in 4...56 {
            histories += [[1 << exponent], [(2 << exponent) - 1], [(9 << (exponent - 3)) - 1]]
        }
        let found = try medians(of: histories)
        #expect(found.count == histories.count)
        for (history, found) in zip(histories, found) {
            let truth = Double(history.sorted()[(history.count + 1) / 2 - 1])
            #expect(abs(found - truth) <= truth / 10, "\(history)")
        }
    }
}
