import EventLog
import FunnelOracle
import Postgres
import Telemetry
import TestSupport
import Values

/// Random histories side by side in the log of one database, each with apps of its own.
struct StoredHistories {
    let histories: [RandomHistory]

    /// Appends them as they arrived, a few events of each at a time.
    init(seeds: Range<UInt64>, deliveries: Int = 8, in database: TestDatabase) throws {
        histories = seeds.map { RandomHistory(seed: $0, deliveries: deliveries, appPrefix: "h\($0)") }
        var connection = try database.connect()
        let zones = histories.flatMap { $0.timeZoneNames }
        let rows = try connection.query(
            """
            INSERT INTO log.app (slug, time_zone) SELECT * FROM unnest(\(zones.map(\.key)), \(zones.map(\.value)))
            RETURNING slug, id
            """)
        var apps: [String: Int32] = [:]
        for row in rows { apps[try row.get(0)] = try row.get(1) }
        let appender = try database.appender()
        let stride = 7
        for start in Swift.stride(from: 0, to: histories.map(\.events.count).max() ?? 0, by: stride) {
            let arriving = histories.flatMap { $0.events.dropFirst(start).prefix(stride) }
            let submissions = Dictionary(grouping: arriving, by: \.app).map { app, events in
                Submission(
                    app: apps[app] ?? 0, key: 1, receivedAt: Event.sampleTime, events: events.map(\.event))
            }
            for verdicts in try appender.append(submissions) {
                for case .rejected(let rejection) in verdicts { throw Refused(description: "\(rejection)") }
            }
        }
    }

    private struct Refused: Error, CustomStringConvertible { let description: String }

    /// What differs between the oracle's funnels and these tables, a line for each.
    func differences(in found: [String: NamedTable]) -> [String] {
        let bySlug = found.mapValues { table in Dictionary(grouping: table.rows) { $0["app"]?.flatMap { $0 } ?? "" } }
        return histories.flatMap { history in
            // What `installs` shows is made by its view, and goals are recounted only of apps that the fold names.
            let made = [InstallRow.view] + Funnels.ofGoals
            return history.funnels.tables.filter { !made.contains($0.view) }.flatMap { expected in
                let stored = bySlug[expected.view] ?? bySlug[expected.table]
                let rows = history.timeZoneNames.keys.flatMap { stored?[$0] ?? [] }
                return expected.differences(in: rows.map { row in expected.columns.map { row[$0] ?? nil } })
                    .map { "seed \(history.seed): \($0)" }
            }
        }
    }
}

/// Rows of text by the names of their columns.
struct NamedTable {
    var rows: [[String: String?]] = []
}
