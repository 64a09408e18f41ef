import FunnelOracle
import Postgres
import TestSupport
import Testing

/// A random history, with its apps made in a database.
struct ShopHistory {
    let history: RandomHistory
    let apps: [String: TestApp]

    var seed: UInt64 { history.seed }
    var events: [StoredEvent] { history.events }

    /// One for each seed, with apps of its own.
    static func histories(seeds: some Sequence<UInt64>, in database: TestDatabase) throws -> [ShopHistory] {
        try seeds.map { seed in
            let history = RandomHistory(seed: seed, appPrefix: "s\(seed)-")
            var apps: [String: TestApp] = [:]
            for (slug, zone) in history.timeZoneNames { apps[slug] = try database.makeApp(slug, timeZone: zone) }
            return ShopHistory(history: history, apps: apps)
        }
    }

    /// The views of a database show what the oracle makes of this history.
    func expectOracle(in database: TestDatabase, location: SourceLocation = #_sourceLocation) throws {
        let lines = try differences(in: database)
        #expect(
            lines.isEmpty, "seed \(seed), \(lines.count) differences: \(lines.prefix(5).joined(separator: "; "))",
            sourceLocation: location)
    }

    /// Where the views of a database show something else than the oracle makes of this history.
    func differences(in database: TestDatabase) throws -> [String] {
        try differences(from: history.funnels.tables, in: database)
    }

    /// Where the views of a database show something else of this shop's apps than these tables.
    func differences(from tables: [FunnelTable], in database: TestDatabase) throws -> [String] {
        var connection = try database.connect()
        let slugs = Array(apps.keys)
        return try tables.flatMap { table in
            let query = Statement("\(table.query) WHERE app = ANY ($1)", [.init(slugs)])
            let rows = try connection.query(query).map { row in
                try table.columns.indices.map { column in try row.optional(column, as: String.self) }
            }
            return table.differences(in: rows)
        }
    }
}
